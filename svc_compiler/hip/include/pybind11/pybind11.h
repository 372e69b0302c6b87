// PYBIND11_MODULE as a registry of functions that the recorder calls; no Python. Text of our own; pybind11's names.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <kernelvault/registry.h>

namespace pybind11 {

struct none {};

// A parameter's name, with a default after `=`.
struct arg {
    explicit constexpr arg(const char* name) : name(name) {}
    template <class T>
    ::kernelvault::Default operator=(const T& value) const {
        if constexpr (std::is_same_v<T, ::pybind11::none>)
            return {name, {}};
        else
            return {name, ::kernelvault::to_value(value)};
    }
    arg& noconvert(bool = true) { return *this; }
    arg& none(bool = true) { return *this; }
    const char* name;
};

inline void collect(::kernelvault::Parameters& parameters, const arg& extra) { parameters.names.push_back(extra.name); }

inline namespace literals {
constexpr arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

// Chooses an overload by its parameters.
template <class... A>
struct Overload {
    template <class R>
    constexpr auto operator()(R (*function)(A...)) const {
        return function;
    }
};
template <class... A>
inline constexpr Overload<A...> overload_cast{};

template <class...>
struct call_guard {};
struct gil_scoped_release {
    gil_scoped_release() {}
};
struct gil_scoped_acquire {
    gil_scoped_acquire() {}
};
struct kw_only {};
enum class return_value_policy { automatic, copy, move, reference, take_ownership };

// Accepts `m.doc() = "..."` and `m.attr("name") = value`.
struct Ignored {
    template <class T>
    Ignored& operator=(const T&) {
        return *this;
    }
};

class module_ {
 public:
    // `prefix` tells functions of several extensions in one library apart.
    explicit module_(const char* prefix = "") : prefix_(prefix) {}
    template <class F, class... Extra>
    module_& def(const char* name, F&& function, const Extra&... extra) {
        using ::kernelvault::collect;
        ::kernelvault::Parameters parameters;
        (collect(parameters, extra), ...);
        ::kernelvault::define((prefix_ + name).c_str(), std::forward<F>(function), std::move(parameters));
        return *this;
    }
    Ignored doc() { return {}; }
    Ignored attr(const char*) { return {}; }
    module_ def_submodule(const char*, const char* = "") { return module_(prefix_.c_str()); }

 private:
    std::string prefix_;
};
using module = module_;

using type_error = c10::Error;
using value_error = c10::Error;
using error_already_set = c10::Error;

}  // namespace pybind11

namespace py = pybind11;  // torch/extension.h has it too

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME kernelvault_extension
#endif

#ifndef KERNELVAULT_EXTENSION
#define KERNELVAULT_EXTENSION ""
#endif

// Runs while host.so is loaded.
#define PYBIND11_MODULE(name, variable)                                     \
    static void kernelvault_define_module(pybind11::module_& variable);     \
    static const bool kernelvault_module_defined = [] {                     \
        pybind11::module_ module(KERNELVAULT_EXTENSION);                    \
        kernelvault_define_module(module);                                  \
        return true;                                                        \
    }();                                                                    \
    static void kernelvault_define_module(pybind11::module_& variable)
