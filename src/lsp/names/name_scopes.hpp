#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/ast.hpp"

namespace gpulog::lsp {

/// The names that are declared in a component, or at the top level.
struct name_scope {
  using names = std::map<std::string, std::uint32_t, std::less<>>;

  const name_scope* around = nullptr;
  const syntax::component* component = nullptr;  ///< nullptr at the top level
  names relations, types, branches, functors, components, instances;
  std::map<std::string, const name_scope*, std::less<>> scopes;                   ///< of the components
  std::map<std::string, const syntax::component_type*, std::less<>> instance_of;  ///< components of the instances
};

/// Finds the symbol of a simple name: in the scope and its bases, then in the scopes around.
[[nodiscard]] std::optional<std::uint32_t> find_name(const name_scope& from, name_scope::names name_scope::*kind,
                                                     std::string_view name);

/// Finds the symbol in the scope or its bases alone.
[[nodiscard]] std::optional<std::uint32_t> find_member(const name_scope& in, name_scope::names name_scope::*kind,
                                                       std::string_view name);

/// Returns the content of the component that a scope names; nullptr if unknown, for example a type parameter.
[[nodiscard]] const name_scope* find_component(const name_scope& from, std::string_view name);

/// Returns the content of an instance; nullptr if unknown.
[[nodiscard]] const name_scope* find_instance(const name_scope& from, std::string_view name);

/// Returns the scope and its bases, without repetition.
[[nodiscard]] std::vector<const name_scope*> with_bases(const name_scope& in);

}  // namespace gpulog::lsp
