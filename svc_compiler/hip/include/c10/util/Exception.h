// c10::Error and the TORCH_CHECK family. Text of our own: the names follow libtorch's C++ API.
#pragma once
#include <c10/macros/Macros.h>

#include <exception>
#include <sstream>
#include <string>

namespace c10 {

class Error : public std::exception {
 public:
    explicit Error(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }
    const std::string& msg() const { return message_; }

 private:
    std::string message_;
};

using IndexError = Error;
using ValueError = Error;
using TypeError = Error;
using NotImplementedError = Error;

template <class... Parts>
std::string str(const Parts&... parts) {
    std::ostringstream text;
    (void)(text << ... << parts);
    return text.str();
}

}  // namespace c10

namespace kernelvault {

// Throws c10::Error: "expected `condition`: message (at file:line)".
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& message);
void warn(const std::string& message);

}  // namespace kernelvault

namespace at {
using c10::Error;
}

#define TORCH_CHECK(condition, ...)                                                                  \
    do {                                                                                             \
        if (C10_UNLIKELY(!(condition)))                                                              \
            ::kernelvault::check_failed(#condition, __FILE__, __LINE__, ::c10::str(__VA_ARGS__));    \
    } while (false)
#define TORCH_CHECK_WITH(error, condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), #a " is ", (a), ", " #b " is ", (b))
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b), #a " is ", (a), ", " #b " is ", (b))
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b), #a " is ", (a), ", " #b " is ", (b))
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b), #a " is ", (a), ", " #b " is ", (b))
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b), #a " is ", (a), ", " #b " is ", (b))
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b), #a " is ", (a), ", " #b " is ", (b))
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_CHECK(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ERROR(...) ::kernelvault::check_failed("", __FILE__, __LINE__, ::c10::str(__VA_ARGS__))
#define TORCH_WARN(...) ::kernelvault::warn(::c10::str(__VA_ARGS__))
#define TORCH_WARN_ONCE(...) TORCH_WARN(__VA_ARGS__)
