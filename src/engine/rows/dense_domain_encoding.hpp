#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/array.hpp"
#include "backend/memory_resource.hpp"
#include "engine/rows/staged_rows.hpp"
#include "kernels/search/tuple_numbering.hpp"
#include "plan/encodable_domains.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::detail {

/// Where values that are only compared are numbered (docs/adr/0026-dense-domain-encoding.md).
struct encoding_choice {
  bool everywhere = false;  ///< wherever it is right; else where a recursion may get bit matrices by it
  std::uint64_t largest_matrix = std::uint64_t{16} << 30;  ///< bytes
};

/// Values that are only compared (plan/encodable_domains.hpp), as numbers 0, 1, 2, ... while a program runs: facts are
/// translated when they are loaded, results when they are read. With words of 64 bits, numbers stand for codes, and are
/// their own codes.
class dense_domain_encoding {
 public:
  /// @param wide nullptr: words have 32 bits
  dense_domain_encoding(const plan::program& planned, backend::memory_resource& resource, storage::wide_values* wide);
  dense_domain_encoding(dense_domain_encoding&&) = default;

  /// Numbers the values of the classes that are chosen: of what is staged, and of plan(). @param known of staged rows
  /// @return whether there are any. @throws backend::memory_exceeded
  bool apply(const encoding_choice& chosen, const plan::statistics& known, staged_facts& staged);

  /// A stratum of the plan was planned again, over values: plan() gets its versions, over numbers, and its indexes.
  void take_over(const plan::program& planned, std::size_t stratum);

  /// The plan over numbers.
  [[nodiscard]] const plan::program& plan() const { return *plan_; }
  /// Columns that have numbers, as "relation.attribute".
  [[nodiscard]] std::vector<std::string> columns() const;

  [[nodiscard]] bool covers(std::uint32_t relation) const { return !values_of_[relation].empty(); }
  /// Puts values in place of the numbers of n rows.
  void restore(std::uint32_t relation, std::uint64_t n, word* const* columns) const;
  /// Columns of the relation with values; they are kept here. @throws backend::memory_exceeded
  [[nodiscard]] std::vector<const word*> restored(std::uint32_t relation, const std::vector<const word*>& numbers,
                                                  std::uint64_t rows);

 private:
  [[nodiscard]] std::vector<bool> choose(const encoding_choice& chosen, const plan::statistics& known,
                                         const staged_facts& staged) const;
  void number(plan::encodable_domain& its, staged_facts& staged);

  backend::memory_resource* resource_;
  storage::wide_values* wide_;
  std::unique_ptr<plan::program> plan_;  // classes point into it
  std::vector<plan::encodable_domain> classes_;
  std::vector<std::unique_ptr<backend::array<word>>> values_;    // by number, one of each class that has numbers
  std::vector<std::map<std::uint32_t, const word*>> values_of_;  // by relation and column
  std::vector<backend::array<word>> restored_;
};

}  // namespace gpulog::detail
