#pragma once

#include "kernels/join/pipeline.hpp"
#include "kernels/steps/scalar.hpp"
#include "kernels/steps/text_functions.hpp"

namespace gpulog::kernels {

/// result[i] = op(a[i], b[i]) for a tile.
/// @throws arithmetic_fault
void compute_tile(scalar_op op, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t n, std::uint32_t* result);
void compute_tile(scalar_op op, const std::uint64_t* a, const std::uint64_t* b, std::uint32_t n, std::uint64_t* result);

/// Runs an operation on symbols; the symbol table creates texts.
/// @param arguments one array per argument
/// @param parts remembers a text between calls, as long as the texts of the symbol table are valid
/// @param wide in 64-bit programs, the table whose codes the arguments and the result are
/// @throws arithmetic_fault
void compute_text_tile(scalar_op op, const std::vector<const word*>& arguments, std::uint32_t n, word* result,
                       storage::symbol_table& symbols, part_finder& parts, storage::wide_values* wide = nullptr);
[[nodiscard]] inline bool is_text_operation(scalar_op op) { return op >= scalar_op::min_symbol; }

/// Selects the numbers i < n, ascending, for which the comparison holds.
/// @return the number of selected i
std::uint32_t select_tile(comparison_op op, const word* a, const word* b, std::uint32_t n,
                          const storage::symbol_table* symbols, std::uint16_t* selected);
/// The same on 64-bit numbers. op: not a comparison of texts
std::uint32_t select_tile(comparison_op op, const std::uint64_t* a, const std::uint64_t* b, std::uint32_t n,
                          std::uint16_t* selected);

}  // namespace gpulog::kernels
