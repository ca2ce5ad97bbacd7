#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "storage/indexes/sorted_index.hpp"
#include "storage/sets/hash.hpp"
#include "storage/sets/hash_set.hpp"

namespace gpulog::storage {

/// The tuple set of a relation with choice-domains: for each domain a hash table from its columns' values to the one
/// row that has them. A tuple is kept when its values are new in every domain; so equal tuples are one, too.
class choice_set {
 public:
  using domain = std::vector<std::uint32_t>;  // columns

  choice_set(memory_resource& resource, std::vector<domain> domains) : domains_(std::move(domains)) {
    for (std::size_t d = 0; d < domains_.size(); ++d) tables_.emplace_back(resource);
  }

  [[nodiscard]] const std::vector<domain>& domains() const { return domains_; }
  /// Rows in front of this one have been chosen; those behind are candidates.
  [[nodiscard]] std::uint64_t chosen_rows() const { return chosen_rows_; }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const row_set& table : tables_) sum += table.bytes();
    return sum;
  }

  /// Numbers of the tuples, n <= 512, that are new in every domain, ascending. @return how many. Any number of workers
  /// at a time, but none that keeps rows.
  std::uint32_t select_new(const column_pointers& rows, const word* const* values, std::uint32_t n,
                           std::uint64_t* hashes, std::uint64_t* selected) const {
    for (std::uint32_t i = 0; i < n; ++i) selected[i] = i;
    for (std::size_t d = 0; d < domains_.size() && n != 0; ++d) {
      const domain& columns = domains_[d];
      for (std::uint32_t k = 0; k < n; ++k) {
        hashes[k] = hash_of(columns, [&](std::uint32_t c) { return values[c][selected[k]]; });
        tables_[d].prefetch(hashes[k]);
      }
      std::uint32_t kept = 0;
      for (std::uint32_t k = 0; k < n; ++k) {
        const std::uint64_t i = selected[k];
        const bool taken = tables_[d].contains(hashes[k], [&](std::uint64_t row) {
          return agree(columns, [&](std::uint32_t c) { return rows[c][row] == values[c][i]; });
        });
        selected[kept] = i;
        kept += taken ? 0 : 1;
      }
      n = kept;
    }
    return n;
  }

  /// found[i] = whether tuple i is in the relation.
  void contains(const column_pointers& rows, const word* const* values, std::uint32_t n, std::uint8_t* found) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint64_t hash = hash_of(domains_.front(), [&](std::uint32_t c) { return values[c][i]; });
      const auto same_as = [&](std::uint64_t row) {
        for (std::size_t c = 0; c < rows.size(); ++c) {
          if (rows[c][row] != values[c][i]) return false;
        }
        return true;
      };
      found[i] = tables_.front().contains(hash, same_as) ? 1 : 0;
    }
  }

  /// Chooses among the candidates, rows [chosen_rows(), end), in their order. The chosen ones move to the front.
  /// @return the new chosen_rows()
  std::uint64_t choose(std::vector<array<word>>& columns, std::uint64_t end) {
    std::vector<std::uint64_t> hashes(domains_.size());
    const std::uint64_t begin = chosen_rows_;
    for (std::uint64_t row = begin; row < end; ++row) {
      bool taken = false;
      for (std::size_t d = 0; d < domains_.size() && !taken; ++d) {
        hashes[d] = row_hash(columns, d, row);
        taken = tables_[d].contains(hashes[d], [&](std::uint64_t other) {
          return agree(domains_[d], [&](std::uint32_t c) { return columns[c][other] == columns[c][row]; });
        });
      }
      if (taken) continue;
      for (std::size_t d = 0; d < domains_.size(); ++d) {
        if (!tables_[d].has_room(1)) {
          tables_[d].grow(1, [&](std::uint64_t other) { return row_hash(columns, d, other); });
        }
        tables_[d].insert<false>(hashes[d], chosen_rows_, [](std::uint64_t) { return false; });
        tables_[d].add_count(1);
      }
      if (chosen_rows_ != row) {
        for (auto& column : columns) column[chosen_rows_] = column[row];
      }
      ++chosen_rows_;
    }
    return chosen_rows_;
  }

 private:
  template <class Value>
  static std::uint64_t hash_of(const domain& columns, const Value& value) {
    key_hash hash;
    for (std::uint32_t c : columns) hash.add(value(c));
    return mix(hash.value());
  }
  [[nodiscard]] std::uint64_t row_hash(const std::vector<array<word>>& columns, std::size_t d,
                                       std::uint64_t row) const {
    return hash_of(domains_[d], [&](std::uint32_t c) { return columns[c][row]; });
  }
  template <class Agrees>
  static bool agree(const domain& columns, const Agrees& agrees) {
    for (std::uint32_t c : columns) {
      if (!agrees(c)) return false;
    }
    return true;
  }

  std::vector<domain> domains_;
  std::deque<row_set> tables_;  // by domain
  std::uint64_t chosen_rows_ = 0;
};

}  // namespace gpulog::storage
