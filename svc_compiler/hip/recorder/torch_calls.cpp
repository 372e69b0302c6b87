// Calls of the functions that a torch extension exports.
#include "torch_calls.h"

#include <algorithm>
#include <map>

#include "tensor_impl.h"
#include "trace.h"

using kernelvault::Function;
using kernelvault::Value;
using recorder::Kind;
using recorder::Record;

namespace kernelvault {
namespace {

std::map<std::string, std::vector<Function>>& functions() {
    static auto* made = new std::map<std::string, std::vector<Function>>;
    return *made;
}

std::string describe(const Value& value) {
    switch (value.kind) {
        case Value::Kind::Tensor: return "Tensor";
        case Value::Kind::Integer: return "int";
        case Value::Kind::Floating: return "float";
        case Value::Kind::Bool: return "bool";
        default: return "None";
    }
}

// The arguments in the order of the parameters, defaults in the place of missing ones; throws Mismatch where they do not fit.
std::vector<Value> matched(const Function& function, const std::vector<Value>& given) {
    const auto& [names, defaults] = function.parameters;
    std::vector<const Value*> places(function.count, nullptr);
    for (size_t i = 0; i < std::min(defaults.size(), places.size()); i++)
        places[places.size() - 1 - i] = &defaults[defaults.size() - 1 - i];
    std::vector<bool> taken(function.count, false);
    for (size_t i = 0; i < given.size(); i++) {
        size_t at = i;
        if (!given[i].keyword.empty()) {
            at = static_cast<size_t>(std::find(names.begin(), names.end(), given[i].keyword) - names.begin());
            require(at < names.size());
        }
        require(at < places.size() && !taken[at]);
        taken[at] = true;
        places[at] = &given[i];
    }
    std::vector<Value> values;
    for (const Value* place : places) {
        require(place != nullptr);
        values.push_back(*place);
    }
    return values;
}

}  // namespace

std::vector<Value>& arguments() {
    static auto* made = new std::vector<Value>;
    return *made;
}

bool is_defined(const std::string& name) { return functions().count(name) != 0; }

Value call(const std::string& name, const std::vector<Value>& given) {
    std::string counts;
    for (const Function& function : functions()[name]) {
        counts += (counts.empty() ? "" : " or ") + std::to_string(function.count);
        try {
            return function.call(matched(function, given));
        } catch (const Mismatch&) {
        }
    }
    std::string types;
    for (const Value& value : given)
        types += (types.empty() ? "" : ", ") + (value.keyword.empty() ? "" : value.keyword + "=") + describe(value);
    throw Misfit(name.substr(name.rfind('.') + 1) + "(): incompatible function arguments: it is given (" + types +
                     ") and takes " + counts + " parameters");
}

namespace {

void record_result(const Value& value) {
    if (value.kind == Value::Kind::List) {
        for (const Value& item : value.items) record_result(item);
    } else if (value.kind != Value::Kind::Tensor) {
        Record(Kind::OtherResult).text(describe(value));
    } else if (!get(value.tensor).storage->cuda) {
        Record(Kind::OtherResult).text("a tensor on the CPU");
    } else {
        Record record(Kind::Result);
        add_view(record, get(value.tensor));
    }
}

void run(const std::string& name) {
    try {
        const Value result = call(name, arguments());
        if (result.kind != Value::Kind::None) record_result(result);
        Record(Kind::Returned).number(result.kind == Value::Kind::List);
    } catch (const std::exception& error) {
        Record(Kind::Thrown).text(error.what());
    } catch (...) {
        Record(Kind::Thrown).text("an exception that is no std::exception");
    }
}

Value& argument(Value::Kind kind) {
    arguments().emplace_back();
    arguments().back().kind = kind;
    return arguments().back();
}

}  // namespace

void register_function(const char* name, Function function) { functions()[name].push_back(std::move(function)); }

}  // namespace kernelvault

extern "C" {

void recorder_arguments_clear() { kernelvault::arguments().clear(); }

void recorder_argument_tensor(void* address, uint64_t bytes, const char* dtype, uint64_t rank, const int64_t* sizes,
                              const int64_t* strides, int64_t offset) {
    auto storage = std::make_shared<kernelvault::Storage>(address, bytes, true);
    kernelvault::TensorImpl impl{storage, {sizes, sizes + rank}, {strides, strides + rank}, offset,
                                 kernelvault::from_python_name(dtype)};
    kernelvault::argument(Value::Kind::Tensor).tensor = at::Tensor(std::make_shared<kernelvault::TensorImpl>(impl));
}
void recorder_argument_integer(int64_t value) { kernelvault::argument(Value::Kind::Integer).integer = value; }
void recorder_argument_bool(int value) { kernelvault::argument(Value::Kind::Bool).integer = value; }
void recorder_argument_floating(double value) { kernelvault::argument(Value::Kind::Floating).floating = value; }

// Calls the function, and records its results or its exception. Returns 0 if there is no such function.
int recorder_call_function(const char* name) {
    if (!kernelvault::is_defined(name)) return 0;
    kernelvault::run(name);
    return 1;
}

// The names of all functions, separated by commas.
const char* recorder_functions() {
    static std::string* names = new std::string;
    names->clear();
    for (const auto& [name, overloads] : kernelvault::functions()) *names += (names->empty() ? "" : ", ") + name;
    return names->c_str();
}

}  // extern "C"
