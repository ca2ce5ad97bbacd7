#include "lsp/names/name_scopes.hpp"

#include <algorithm>
#include <cstddef>

namespace gpulog::lsp {

std::vector<const name_scope*> with_bases(const name_scope& in) {
  std::vector<const name_scope*> result = {&in};
  for (std::size_t at = 0; at < result.size(); ++at) {
    const name_scope& current = *result[at];
    if (current.component == nullptr) continue;
    for (const syntax::component_type& base : current.component->bases) {
      const name_scope* const next = find_component(*current.around, base.name.text);
      if (next != nullptr && std::find(result.begin(), result.end(), next) == result.end()) result.push_back(next);
    }
  }
  return result;
}

std::optional<std::uint32_t> find_member(const name_scope& in, name_scope::names name_scope::*kind,
                                         std::string_view name) {
  for (const name_scope* each : with_bases(in)) {
    const auto found = (each->*kind).find(name);
    if (found != (each->*kind).end()) return found->second;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> find_name(const name_scope& from, name_scope::names name_scope::*kind,
                                       std::string_view name) {
  for (const name_scope* at = &from; at != nullptr; at = at->around) {
    if (const auto found = find_member(*at, kind, name)) return found;
  }
  return std::nullopt;
}

const name_scope* find_component(const name_scope& from, std::string_view name) {
  for (const name_scope* at = &from; at != nullptr; at = at->around) {
    const auto found = at->scopes.find(name);
    if (found != at->scopes.end()) return found->second;
  }
  return nullptr;
}

const name_scope* find_instance(const name_scope& from, std::string_view name) {
  for (const name_scope* at = &from; at != nullptr; at = at->around) {
    for (const name_scope* each : with_bases(*at)) {
      const auto found = each->instance_of.find(name);
      if (found != each->instance_of.end()) return find_component(*each, found->second->name.text);
    }
  }
  return nullptr;
}

}  // namespace gpulog::lsp
