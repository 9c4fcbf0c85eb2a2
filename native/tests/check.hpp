// The whole test framework of the core: TEST(name) { CHECK(...); }, run by main.cpp.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace check {

struct Test {
    std::string name;
    void (*run)();
};

inline std::vector<Test> tests;
inline int failures = 0;  // of the test that is running

inline bool add(const char* name, void (*run)()) {
    tests.push_back({name, run});
    return true;
}

inline void fail(const char* file, int line, const std::string& what) {
    std::printf("%s:%d: %s\n", file, line, what.c_str());
    ++failures;
}

inline void near(const char* file, int line, const char* text, double a, double b, double tol) {
    // Written so that NaN fails; equal infinities pass.
    if (a == b || std::abs(a - b) <= tol) return;
    char values[96];
    std::snprintf(values, sizeof values, ": %.17g and %.17g, tolerance %g", a, b, tol);
    fail(file, line, text + std::string(values));
}

}  // namespace check

#define TEST(name)                                                        \
    static void test_##name();                                            \
    static const bool registered_##name = check::add(#name, test_##name); \
    static void test_##name()

#define CHECK(...)                                                                      \
    do {                                                                                \
        if (!(__VA_ARGS__)) check::fail(__FILE__, __LINE__, "CHECK(" #__VA_ARGS__ ")"); \
    } while (false)

#define CHECK_NEAR(a, b, tol) \
    check::near(__FILE__, __LINE__, "CHECK_NEAR(" #a ", " #b ")", (a), (b), (tol))

#define CHECK_THROWS(expression, exception)                                                     \
    do {                                                                                        \
        bool thrown = false;                                                                    \
        try {                                                                                   \
            static_cast<void>(expression);                                                      \
        } catch (const exception&) {                                                            \
            thrown = true;                                                                      \
        }                                                                                       \
        if (!thrown) check::fail(__FILE__, __LINE__, #expression " did not throw " #exception); \
    } while (false)
