#pragma once

#include <cstdint>
#include <vector>

#include "gpulog/registered_functor.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/value_types.hpp"

namespace gpulog::kernels {

/// Calls a registered functor once for n rows. Parameters and result are numbers, unsigned numbers, floats and symbols.
/// @param arguments one column per parameter
/// @param wide nullptr: words have 32 bits
/// @throws the functor's exceptions
void call_registered(const user_functor& described, const registered_functor& function,
                     const std::vector<const word*>& arguments, std::uint32_t n, word* result,
                     storage::symbol_table& symbols, storage::wide_values* wide);

}  // namespace gpulog::kernels
