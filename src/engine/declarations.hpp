#pragma once

#include <string_view>
#include <vector>

#include "gpulog/relation.hpp"
#include "sema/program.hpp"

/// The declarations of a program in the types of the public interface.
namespace gpulog::detail {

[[nodiscard]] std::vector<attribute> attributes_of(const sema::relation& declared, const sema::program& program);
[[nodiscard]] std::vector<structured_type> types_of(const sema::program& program);

/// @throws input_error for an unknown name
[[nodiscard]] relation_id relation_named(std::string_view name, const sema::program& program);

}  // namespace gpulog::detail
