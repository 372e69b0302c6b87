// The functions that a candidate exports, called with arguments as Python would pass them. Text of our own.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace kernelvault {

// A Python value that a candidate can be given or can return.
struct Value {
    // Text is also what Python calls a dtype or a device.
    enum class Kind { None, Tensor, Integer, Floating, Bool, Text, List } kind = Kind::None;
    at::Tensor tensor;
    int64_t integer = 0;
    double floating = 0;
    std::string text;
    std::vector<Value> items;
    std::string keyword;  // of an argument that is passed by its name
};

// The dtype that torch's Python calls `float32`; in the recorder.
at::ScalarType from_python_name(const std::string& name);

// Thrown where a value is not of the parameter's type; the next overload is tried.
struct Mismatch {};

template <class>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsVector<c10::ArrayRef<T>> : std::true_type {};
template <class>
struct AlwaysFalse : std::false_type {};

// What holds a parameter's value during the call.
template <class T>
struct Held {
    using type = T;
};
template <class T>
struct Held<c10::ArrayRef<T>> {
    using type = std::vector<T>;
};
template <class T>
using HeldType = typename Held<std::remove_cv_t<std::remove_reference_t<T>>>::type;

inline void require(bool fits) {
    if (!fits) throw Mismatch();
}

template <class T>
T from_value(const Value& value) {
    using Kind = Value::Kind;
    if constexpr (IsOptional<T>::value) {
        if (value.kind == Kind::None) return std::nullopt;
        return from_value<typename T::value_type>(value);
    } else if constexpr (std::is_same_v<T, at::Tensor>) {
        require(value.kind == Kind::Tensor || value.kind == Kind::None);
        return value.tensor;
    } else if constexpr (std::is_same_v<T, bool>) {
        require(value.kind == Kind::Bool);
        return value.integer != 0;
    } else if constexpr (std::is_floating_point_v<T>) {
        require(value.kind == Kind::Floating || value.kind == Kind::Integer || value.kind == Kind::Bool);
        return static_cast<T>(value.kind == Kind::Floating ? value.floating : static_cast<double>(value.integer));
    } else if constexpr (std::is_integral_v<T>) {
        require(value.kind == Kind::Integer || value.kind == Kind::Bool);
        return static_cast<T>(value.integer);
    } else if constexpr (std::is_same_v<T, c10::Scalar>) {
        if (value.kind == Kind::Bool) return c10::Scalar(value.integer != 0);
        require(value.kind == Kind::Floating || value.kind == Kind::Integer);
        return value.kind == Kind::Floating ? c10::Scalar(value.floating) : c10::Scalar(value.integer);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, c10::Device>) {
        require(value.kind == Kind::Text);
        return value.text;
    } else if constexpr (std::is_same_v<T, at::ScalarType>) {
        require(value.kind == Kind::Text);
        return from_python_name(value.text);
    } else if constexpr (IsVector<T>::value) {
        require(value.kind == Kind::List);
        T items;
        for (const Value& item : value.items) items.push_back(from_value<typename T::value_type>(item));
        return items;
    } else {
        static_assert(AlwaysFalse<T>::value, "kernelvault: a parameter of an exported function has an unsupported type");
    }
}

template <class... T>
Value to_value(const std::tuple<T...>& result);
template <class A, class B>
Value to_value(const std::pair<A, B>& result);
template <class T, size_t N>
Value to_value(const std::array<T, N>& result);

template <class T>
Value to_value(const T& result) {
    using Kind = Value::Kind;
    Value value;
    if constexpr (std::is_same_v<T, std::nullopt_t>) {
        return value;
    } else if constexpr (IsOptional<T>::value) {
        return result ? to_value(*result) : value;
    } else if constexpr (std::is_same_v<T, at::Tensor>) {
        value.kind = result.defined() ? Kind::Tensor : Kind::None;
        value.tensor = result;
    } else if constexpr (std::is_same_v<T, bool>) {
        value.kind = Kind::Bool;
        value.integer = result;
    } else if constexpr (std::is_floating_point_v<T>) {
        value.kind = Kind::Floating;
        value.floating = result;
    } else if constexpr (std::is_integral_v<T>) {
        value.kind = Kind::Integer;
        value.integer = static_cast<int64_t>(result);
    } else if constexpr (std::is_convertible_v<T, std::string>) {
        value.kind = Kind::Text;
        value.text = result;
    } else if constexpr (IsVector<T>::value) {
        value.kind = Kind::List;
        for (const auto& item : result) value.items.push_back(to_value(item));
    } else {
        static_assert(AlwaysFalse<T>::value, "kernelvault: an exported function returns an unsupported type");
    }
    return value;
}
template <class... T>
Value to_value(const std::tuple<T...>& result) {
    Value value;
    value.kind = Value::Kind::List;
    std::apply([&](const T&... item) { (value.items.push_back(to_value(item)), ...); }, result);
    return value;
}
template <class A, class B>
Value to_value(const std::pair<A, B>& result) {
    return to_value(std::tuple<A, B>(result));
}
template <class T, size_t N>
Value to_value(const std::array<T, N>& result) {
    return to_value(std::vector<T>(result.begin(), result.end()));
}

// What the extras of a definition say of its parameters.
struct Parameters {
    std::vector<std::string> names;  // empty, or one for each
    std::vector<Value> defaults;     // of the last ones
};
// `py::arg("eps") = 1e-5` among the extras of a definition.
struct Default {
    const char* name;
    Value value;
};
inline void collect(Parameters& parameters, const Default& extra) {
    parameters.names.push_back(extra.name);
    parameters.defaults.push_back(extra.value);
}
template <class T>
void collect(Parameters&, const T&) {}

struct Function {
    size_t count;
    Parameters parameters;
    std::function<Value(const std::vector<Value>&)> call;
};
void register_function(const char* name, Function function);  // in the recorder

template <class F, class R, class... A, size_t... I>
Value invoke(F& function, const std::vector<Value>& values, std::index_sequence<I...>) {
    std::tuple<HeldType<A>...> held{from_value<HeldType<A>>(values[I])...};
    if constexpr (std::is_void_v<R>) {
        function(static_cast<A>(std::get<I>(held))...);
        return {};
    } else {
        return to_value(function(static_cast<A>(std::get<I>(held))...));
    }
}

template <class R, class... A, class F>
void define_as(const char* name, F function, Parameters parameters) {
    register_function(name, {sizeof...(A), std::move(parameters), [function](const std::vector<Value>& values) mutable {
                                 return invoke<F, R, A...>(function, values, std::index_sequence_for<A...>());
                             }});
}

template <class R, class... A>
void define(const char* name, R (*function)(A...), Parameters parameters) {
    define_as<R, A...>(name, function, std::move(parameters));
}
template <class F, class R, class C, class... A>
void define_callable(const char* name, F function, R (C::*)(A...) const, Parameters parameters) {
    define_as<R, A...>(name, std::move(function), std::move(parameters));
}
template <class F, class = decltype(&std::remove_reference_t<F>::operator())>
void define(const char* name, F&& function, Parameters parameters) {
    define_callable(name, std::remove_reference_t<F>(function), &std::remove_reference_t<F>::operator(), std::move(parameters));
}

}  // namespace kernelvault
