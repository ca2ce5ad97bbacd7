#pragma once

#include <cstddef>
#include <string>

#include "lsp/engine_questions.hpp"
#include "lsp/features/place.hpp"

/// The commands of the server: the plan of a rule, and why a tuple exists.
namespace gpulog::lsp {

inline constexpr const char* plan_command = "gpulog.showPlan";
inline constexpr const char* why_command = "gpulog.why";

/// Returns the command that shows the plan of the clause at an offset.
[[nodiscard]] json plan_command_at(const file_view& view, std::size_t offset, const std::string& title);

/// Returns the commands for the rule and the atom at an offset.
[[nodiscard]] json commands_at(const file_view& view, std::size_t offset);

/// Returns the program of the view for the engine.
[[nodiscard]] asked_program asked_program_of(const file_view& view, const std::string& fact_folder);

/// Returns the part of a plan about the clause at an offset; the whole plan if no part names the clause.
[[nodiscard]] std::string plan_of_clause(const file_view& view, std::size_t offset, const std::string& plan);

}  // namespace gpulog::lsp
