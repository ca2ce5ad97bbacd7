#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "oracle/engine_comparison.hpp"
#include "oracle/facts_from_scratch.hpp"

/// Compares results, and what changed, after an evaluation.
namespace gpulog {

/// Returns the words of numbers, and the texts of symbols.
inline row_texts rows_of(const answer& from) {
  std::vector<std::vector<std::string>> rows(from.size());
  for (std::size_t column = 0; column < from.attributes().size(); ++column) {
    const host_column values = from.column(column);
    std::visit(
        [&rows]<class Values>(const Values& all) {
          using element = typename Values::value_type;
          for (std::size_t row = 0; row < rows.size(); ++row) {
            if constexpr (std::is_convertible_v<element, std::string_view>) {
              rows[row].emplace_back(all[row]);
            } else if constexpr (std::is_arithmetic_v<element>) {
              std::uint64_t bits = 0;
              std::memcpy(&bits, &all[row], sizeof(element));
              rows[row].push_back(std::to_string(bits));
            }
          }
        },
        values.values);
  }
  return {rows.begin(), rows.end()};
}

inline row_texts only_in(const row_texts& all, const row_texts& others) {
  row_texts result;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(), std::inserter(result, result.end()));
  return result;
}

/// @param compared empty: all relations
inline void expect_results(engine& running, const facts_from_scratch& facts, const std::string& where,
                           const std::set<std::string>& compared = {}) {
  const auto expected = facts.results();
  for (std::uint32_t number = 0; number < expected.size(); ++number) {
    const std::string& name = facts.analysed().relations[number].name;
    if (!compared.empty() && !compared.contains(name)) continue;
    ASSERT_EQ(rows_of(running.relation(name)), expected[number]) << where << ", relation " << name;
  }
}

/// Compares the changes of an evaluation with the differences of its results, which are correct.
/// @param before results before the evaluation; replaced by the current results
/// @param compared relations; empty: all
inline void expect_changes(engine& running, std::map<std::string, row_texts>& before, const std::string& where,
                           const std::set<std::string>& compared) {
  for (const relation& one : running.relations()) {
    const std::string name(one.name());
    if (!compared.empty() && !compared.contains(name)) continue;
    const changed_rows changes = running.changes(name);
    row_texts now = rows_of(one);
    ASSERT_EQ(rows_of(changes.added), only_in(now, before[name])) << where << ", added to " << name;
    ASSERT_EQ(rows_of(changes.removed), only_in(before[name], now)) << where << ", lost by " << name;
    before[name] = std::move(now);
  }
}

}  // namespace gpulog
