// Calls from Python: arguments of any kind, and results that Python goes on with (svc_compiler/module/native.py).
#include <cmath>
#include <iterator>
#include <sstream>

#include "tensor_impl.h"
#include "torch_calls.h"

using kernelvault::Value;

namespace {

std::string& message() {
    static auto* made = new std::string;
    return *made;
}

// Python holds their memory by its address.
std::vector<at::Tensor>& kept() {
    static auto* made = new std::vector<at::Tensor>;
    return *made;
}

std::string quoted(const std::string& text) {
    std::ostringstream out;
    out << '"';
    for (const unsigned char c : text) {
        if (c == '"' || c == '\\')
            out << '\\' << c;
        else if (c < 0x20) {
            const char* digits = "0123456789abcdef";
            out << "\\u00" << digits[c >> 4] << digits[c & 15];
        } else
            out << c;
    }
    out << '"';
    return out.str();
}

std::string joined(const std::vector<int64_t>& numbers) {
    std::string text;
    for (const int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
    return "[" + text + "]";
}

std::string json(const at::Tensor& tensor) {
    const kernelvault::TensorImpl& impl = kernelvault::get(tensor);
    kept().push_back(tensor);
    std::ostringstream out;
    out << R"({"cuda":)" << (impl.storage->cuda ? "true" : "false") << R"(,"address":)"
        << reinterpret_cast<uint64_t>(impl.storage->address) << R"(,"bytes":)" << impl.storage->bytes << R"(,"dtype":")"
        << kernelvault::python_name(impl.type) << R"(","sizes":)" << joined(impl.sizes) << R"(,"strides":)"
        << joined(impl.strides) << R"(,"offset":)" << impl.offset << "}";
    return out.str();
}

// A value as JSON; Python's reader takes NaN and Infinity.
std::string json(const Value& value) {
    std::ostringstream out;
    out.precision(17);
    switch (value.kind) {
        case Value::Kind::Tensor: return json(value.tensor);
        case Value::Kind::Integer: return std::to_string(value.integer);
        case Value::Kind::Bool: return value.integer ? "true" : "false";
        case Value::Kind::Text: return quoted(value.text);
        case Value::Kind::Floating:
            if (std::isnan(value.floating)) return "NaN";
            if (std::isinf(value.floating)) return value.floating < 0 ? "-Infinity" : "Infinity";
            out << std::scientific << value.floating;
            return out.str();
        case Value::Kind::List: {
            std::string text;
            for (const Value& item : value.items) text += (text.empty() ? "" : ",") + json(item);
            return "[" + text + "]";
        }
        default: return "null";
    }
}

}  // namespace

extern "C" {

void recorder_argument_none() { kernelvault::arguments().emplace_back(); }
void recorder_argument_text(const char* text) {
    kernelvault::arguments().emplace_back();
    kernelvault::arguments().back().kind = Value::Kind::Text;
    kernelvault::arguments().back().text = text;
}
// The last `count` arguments become one, a list.
void recorder_argument_list(uint64_t count) {
    auto& all = kernelvault::arguments();
    Value list;
    list.kind = Value::Kind::List;
    const auto first = all.end() - static_cast<std::ptrdiff_t>(std::min<uint64_t>(count, all.size()));
    list.items.assign(std::make_move_iterator(first), std::make_move_iterator(all.end()));
    all.erase(first, all.end());
    all.push_back(std::move(list));
}
// The last argument is passed by its name.
void recorder_argument_keyword(const char* name) { kernelvault::arguments().back().keyword = name; }

int recorder_is_defined(const char* name) { return kernelvault::is_defined(name); }

// Calls a function with the arguments. 0: `recorder_returned` is the result, 1: what the function threw, 2: why the arguments
// do not fit.
int recorder_invoke(const char* name) {
    try {
        message() = json(kernelvault::call(name, kernelvault::arguments()));
        return 0;
    } catch (const kernelvault::Misfit& error) {
        message() = error.what();
        return 2;
    } catch (const std::exception& error) {
        message() = error.what();
    } catch (...) {
        message() = "an exception that is no std::exception";
    }
    return 1;
}
const char* recorder_returned() { return message().c_str(); }

}  // extern "C"
