// Runs every TEST, or those whose name contains the first argument.
#include <cstdio>
#include <exception>
#include <string>

#include "check.hpp"

int main(int argc, char** argv) {
    const std::string filter = argc > 1 ? argv[1] : "";
    int passed = 0;
    int failed = 0;
    for (const check::Test& test : check::tests) {
        if (test.name.find(filter) == std::string::npos) continue;
        check::failures = 0;
        try {
            test.run();
        } catch (const std::exception& error) {
            check::fail(__FILE__, __LINE__, std::string("uncaught exception: ") + error.what());
        }
        if (check::failures > 0) std::printf("FAILED %s\n", test.name.c_str());
        ++(check::failures > 0 ? failed : passed);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0 ? 1 : 0;
}
