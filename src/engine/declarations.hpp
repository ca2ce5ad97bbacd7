#pragma once

#include <string_view>
#include <vector>

#include "gpulog/relation.hpp"
#include "sema/program.hpp"

/// What a program declares, as its callers see it.
namespace gpulog::detail {

[[nodiscard]] std::vector<attribute> attributes_of(const sema::relation& declared, const sema::program& program);
[[nodiscard]] std::vector<structured_type> types_of(const sema::program& program);

/// @throws input_error where there is none of that name
[[nodiscard]] relation_id relation_named(std::string_view name, const sema::program& program);

}  // namespace gpulog::detail
