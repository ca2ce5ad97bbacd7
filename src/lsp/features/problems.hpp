#pragma once

#include <map>
#include <string>

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Diagnostics to show at most for one file.
inline constexpr std::size_t most_diagnostics = 1000;

/// Returns the diagnostics of all files of the programs, by URI. Files without diagnostics have an empty list. A file
/// of several programs has the diagnostics of all of them, once each.
[[nodiscard]] std::map<std::string, json> diagnostics_of(
    const workspace& all, const std::map<std::string, const compiled_program*>& programs);

[[nodiscard]] json diagnostic_of(const workspace& all, const compiled_program& program,
                                 const diagnostics::entry& entry);

/// Returns the quick fixes of the diagnostics that touch bytes [begin, end).
[[nodiscard]] json quick_fixes(const file_view& view, std::size_t begin, std::size_t end);

}  // namespace gpulog::lsp
