// The source that CMake compiles the tests' common headers for (tests/CMakeLists.txt).
