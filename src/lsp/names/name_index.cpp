#include "lsp/names/name_index.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "lsp/names/name_collector.hpp"

namespace gpulog::lsp {

namespace {

/// Files compare by address, which is stable within a program.
bool is_before(const name_use& left, const name_use& right) {
  if (left.span.file != right.span.file) return std::less<>()(left.span.file, right.span.file);
  return std::tie(left.span.begin, left.span.end) < std::tie(right.span.begin, right.span.end);
}

}  // namespace

name_index::name_index(const syntax::program& tree) {
  name_collector(*this).run(tree);
  std::stable_sort(uses_.begin(), uses_.end(), is_before);
  const auto last = std::unique(uses_.begin(), uses_.end(), [](const name_use& left, const name_use& right) {
    return left.span == right.span && left.symbol == right.symbol;
  });
  uses_.erase(last, uses_.end());
}

const name_use* name_index::find_use(const source_file& file, std::size_t offset) const {
  const auto place = static_cast<std::uint32_t>(offset);
  name_use wanted;
  wanted.span = {&file, place, static_cast<std::uint32_t>(-1)};
  auto after = std::upper_bound(uses_.begin(), uses_.end(), wanted, is_before);
  const name_use* touching = nullptr;
  // Calls of macros may enclose several uses.
  for (int steps = 0; after != uses_.begin() && steps < 100; ++steps) {
    const name_use& each = *--after;
    if (each.span.file != &file) break;
    if (each.span.begin <= place && place < each.span.end) return &each;
    if (each.span.end == place && touching == nullptr) touching = &each;
  }
  return touching;
}

const named_symbol* name_index::find_symbol(name_kind kind, std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(), [&](const named_symbol& symbol) {
    return symbol.kind == kind && symbol.name == name && (symbol.owner.empty() || kind == name_kind::branch);
  });
  return found == symbols_.end() ? nullptr : &*found;
}

const named_symbol* name_index::find_relation(std::string_view qualified) const {
  const std::size_t dot = qualified.find('.');
  if (dot == std::string_view::npos) return find_symbol(name_kind::relation, qualified);
  for (const named_symbol* each : members_of(qualified.substr(0, dot))) {
    if (each->name == qualified.substr(dot + 1)) return each;
  }
  return nullptr;
}

std::vector<const named_symbol*> name_index::members_of(std::string_view instance) const {
  std::vector<const named_symbol*> result;
  for (const member& each : members_) {
    if (each.instance == instance) result.push_back(&symbols_[each.relation]);
  }
  return result;
}

}  // namespace gpulog::lsp
