#pragma once

#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/mapped_text.hpp"
#include "syntax/parser.hpp"

namespace gpulog::syntax {

/// Returns whether preprocess() could change the file.
[[nodiscard]] bool needs_preprocessing(const source_file& file, const parse_options& options);

/// What programs use of the C preprocessor: #include, #define with and without arguments (# and ## too), #undef,
/// conditions, #error, #warning, #line, #pragma once, and the macros RAM_DOMAIN_SIZE, `__DATE__` and `__TIME__`.
/// `__LINE__` and `__FILE__` are left to the lexer, which knows where text comes from. Macros that grow without bound
/// and includes that do are reported.
[[nodiscard]] mapped_text preprocess(source_file& file, source_manager& sources, diagnostics& report,
                                     const parse_options& options);

}  // namespace gpulog::syntax
