#pragma once

#include <cstdint>
#include <vector>

#include "gpulog/registered_functor.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/value_types.hpp"

namespace gpulog::kernels {

/// Calls a functor that the caller of the library has, once for n rows. Its parameters and its result are numbers,
/// unsigned numbers, floats and symbols. @param arguments a column for each parameter @param wide nullptr: words have
/// 32 bits @throws what the functor throws
void call_registered(const user_functor& described, const registered_functor& function,
                     const std::vector<const word*>& arguments, std::uint32_t n, word* result,
                     storage::symbol_table& symbols, storage::wide_values* wide);

}  // namespace gpulog::kernels
