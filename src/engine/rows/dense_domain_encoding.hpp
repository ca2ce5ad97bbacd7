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

/// Options for the encoding of values that are only compared (docs/adr/0026-dense-domain-encoding.md).
struct encoding_choice {
  bool everywhere = false;  ///< encode all eligible values; otherwise only where a recursion may use bit matrices
  std::uint64_t largest_matrix = std::uint64_t{16} << 30;  ///< in bytes
};

/// Values that are only compared (plan/encodable_domains.hpp), as numbers 0, 1, 2, ... while a program runs: facts are
/// translated when they are loaded, results when they are read. With words of 64 bits, numbers stand for codes, and are
/// their own codes.
class dense_domain_encoding {
 public:
  /// @param wide nullptr: words have 32 bits
  dense_domain_encoding(const plan::program& planned, backend::memory_resource& resource, storage::wide_values* wide);
  dense_domain_encoding(dense_domain_encoding&&) = default;

  /// Numbers the values of the chosen classes in the staged rows and in plan().
  /// @param known statistics of the staged rows
  /// @return whether any values were numbered
  /// @throws backend::memory_exceeded
  bool apply(const encoding_choice& chosen, const plan::statistics& known, staged_facts& staged);

  /// Takes over a stratum that was planned again over values: plan() receives its versions, relations and indexes,
  /// translated to numbers.
  void take_over(const plan::program& planned, std::size_t stratum);

  /// Returns the plan over numbers.
  [[nodiscard]] const plan::program& plan() const { return *plan_; }
  /// Returns the encoded columns as "relation.attribute".
  [[nodiscard]] std::vector<std::string> columns() const;

  [[nodiscard]] bool covers(std::uint32_t relation) const { return !values_of_[relation].empty(); }
  /// Replaces the numbers in n rows by values.
  void restore(std::uint32_t relation, std::uint64_t n, word* const* columns) const;
  /// Returns the columns of the relation with values; the object owns the columns.
  /// @throws backend::memory_exceeded
  [[nodiscard]] std::vector<const word*> restored(std::uint32_t relation, const std::vector<const word*>& numbers,
                                                  std::uint64_t rows);

 private:
  [[nodiscard]] std::vector<bool> choose(const encoding_choice& chosen, const plan::statistics& known,
                                         const staged_facts& staged) const;
  void number(plan::encodable_domain& its, staged_facts& staged);

  backend::memory_resource* resource_;
  storage::wide_values* wide_;
  std::unique_ptr<plan::program> plan_;  // referenced by the classes
  std::vector<plan::encodable_domain> classes_;
  std::vector<std::unique_ptr<backend::array<word>>> values_;    // values by number, for each encoded class
  std::vector<std::map<std::uint32_t, const word*>> values_of_;  // by relation and column
  std::vector<backend::array<word>> restored_;
};

}  // namespace gpulog::detail
