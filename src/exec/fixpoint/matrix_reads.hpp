#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/fixpoint/plan_relations.hpp"
#include "exec/fixpoint/running_version.hpp"

/// Decides which reads of a matrix (storage/factorized/row_matrix.hpp) look up its rows, and which reads need columns
/// first (docs/adr/0073-row-matrix.md).
namespace gpulog::exec {

template <class Machine>
class matrix_reads {
 public:
  using relation_type = typename Machine::relation;
  static constexpr machine_abilities can = Machine::abilities;

  explicit matrix_reads(plan_relations<Machine>& shared) : shared_(&shared) {}

  /// Defers the tuple set of a new matrix in which later strata look up tuples.
  /// @return whether the set was deferred
  bool defer_set([[maybe_unused]] relation_id id) {
    if constexpr (can.row_matrices) {
      // A continued evaluation inserts into the relation.
      if (shared_->chosen.continues || shared_->relation_of(id).matrix() == nullptr) return false;
      shared_->owed_sets.insert(id);
      return true;
    } else {
      return false;
    }
  }

  /// Returns whether all later strata can read a relation of two columns as rows of words: by scans, membership tests,
  /// or searches by the first column. Rows of words also support searches by the second column, but short lists take as
  /// long to search as an index.
  [[nodiscard]] bool reads_words_only([[maybe_unused]] relation_id id, [[maybe_unused]] std::size_t number) const {
    if constexpr (can.row_matrices) {
      // A continued evaluation inserts into the relation.
      bool are_all_searched = !shared_->chosen.continues;
      for (std::size_t later = number + 1; later < shared_->program.strata.size(); ++later) {
        const plan::stratum& stratum = shared_->program.strata[later];
        for_each_version(stratum, [&](const plan::rule_version& version) {
          for_each_column_read(shared_->program, version, [&](const plan::column_read& read) {
            if (read.relation != id) return;
            const bool is_searched = !reads_repeatedly(stratum) && !joins_row_wise(stratum, version, id) &&
                                     read.how != plan::column_read::kind::other &&
                                     (read.key.empty() || read.key == std::vector<std::uint32_t>{0});
            are_all_searched = are_all_searched && is_searched;
          });
        });
      }
      return are_all_searched;
    } else {
      return false;
    }
  }

  /// Before a stratum, materializes every relation that the stratum extends or reads in a way that needs columns.
  void prepare([[maybe_unused]] const plan::stratum& stratum, [[maybe_unused]] std::size_t number) {
    if constexpr (can.row_matrices) {
      shared_->is_searching = false;
      for (const relation_id id : stratum.relations) expand(id, number);
      for_each_read_of(stratum, [&](const reading& one) {
        if (!is_searched(stratum, one)) expand(one.read.relation, number);
      });
      for_each_read_of(stratum, [&](const reading& one) {
        if (shared_->relation_of(one.read.relation).matrix() == nullptr) return;
        shared_->is_searching = true;
        if constexpr (can.matrix_views) make_lookup(one.read, number);
      });
    }
  }

  /// Before a version runs: materializes matrices whose lookups have cost as much as columns. On a host, lookups of the
  /// version may end with kernels::costly_reading when they have cost as much.
  /// @param may_end whether the version can be run again
  void limit_lookups([[maybe_unused]] const plan::rule_version& version, [[maybe_unused]] bool may_end,
                     [[maybe_unused]] stratum_statistics& figures) {
    if constexpr (can.row_matrices) {
      std::set<relation_id> costly;
      for_each_column_read(shared_->program, version, [&](const plan::column_read& read) {
        if (is_costly(read)) costly.insert(read.relation);
      });
      if (!costly.empty()) make_columns_of(costly, figures);
    }
    if constexpr (can.row_matrices && !can.matrix_views) {
      for_each_column_read(shared_->program, version, [&](const plan::column_read& read) {
        const relation_type& source = shared_->relation_of(read.relation);
        if (source.matrix() == nullptr) return;
        const bool ends = may_end && has_room_for_columns(source);
        source.matrix()->limit_work(ends ? static_cast<std::uint64_t>(most_work(source)) : UINT64_MAX);
      });
    }
  }

 private:
  /// Materializes columns, and the tuple set if this stratum or a later stratum needs the set.
  void expand(relation_id id, [[maybe_unused]] std::size_t number) {
    if constexpr (can.row_matrices) {
      const std::size_t last = shared_->uses.set_needed[id.value];
      if (last != last_uses::never && last >= number && shared_->owed_sets.erase(id) != 0) {
        shared_->guarded({"indexing", id, nullptr}, [&] { shared_->machine.make_set(shared_->relation_of(id)); });
        return;
      }
    }
    shared_->need_columns(id);
  }

  /// Builds the lookup structure; materializes columns if memory does not suffice.
  void make_lookup(const plan::column_read& read, std::size_t number) {
    bool is_made = true;
    const bool tests_key = read.how == plan::column_read::kind::key_test;
    shared_->watched({"indexing", read.relation, nullptr}, [&] {
      try {
        shared_->machine.make_lookup(shared_->relation_of(read.relation),
                                     tests_key ? read.key : std::vector<std::uint32_t>());
      } catch (const backend::memory_exceeded&) {
        is_made = false;
      }
    });
    if (!is_made) expand(read.relation, number);
  }

  /// Returns whether lookups have cost as much as columns. A device tests tuples without materializing rows.
  [[nodiscard]] bool is_costly(const plan::column_read& read) const {
    const relation_type& source = shared_->relation_of(read.relation);
    if (source.matrix() == nullptr || (can.matrix_views && !makes_rows(read))) return false;
    return static_cast<double>(source.matrix()->work()) > most_work(source) && has_room_for_columns(source);
  }
  [[nodiscard]] double most_work(const relation_type& source) const {
    return static_cast<double>(source.rows()) *
           shared_->chosen.cut.matrix_work_of_row.value_or(Machine::matrix_work_of_row);
  }
  [[nodiscard]] static bool makes_rows(const plan::column_read& read) {
    return read.how == plan::column_read::kind::key || read.how == plan::column_read::kind::first_scan;
  }

  /// Materializes columns while a stratum runs; all its versions read the columns from now on.
  void make_columns_of(const std::set<relation_id>& costly, stratum_statistics& figures) {
    const double start = storage::seconds_now();
    for (const relation_id id : costly) expand(id, shared_->running);
    figures.materialize_seconds += storage::seconds_now() - start;
    std::set<std::uint32_t> indexes;
    for_each_version(shared_->program.strata[shared_->running], [&](const plan::rule_version& version) {
      for (const std::uint32_t index : indexes_read({version}, Machine::makes_other_searches)) {
        if (costly.contains(shared_->places[index].relation)) indexes.insert(index);
      }
    });
    shared_->refresh_indexes(indexes, figures);
    ++shared_->late_columns;
  }

  struct reading {
    const plan::rule_version& version;
    const plan::column_read& read;
    bool is_repeated;  ///< read in each iteration
  };
  template <class Visit>
  void for_each_read_of(const plan::stratum& stratum, const Visit& visit) const {
    const auto visit_all = [&](const plan::rule_version& version, bool is_repeated) {
      for_each_column_read(shared_->program, version, [&](const plan::column_read& read) {
        visit({version, read, is_repeated});
      });
    };
    for (const auto& version : stratum.once.versions) visit_all(version, false);
    for (const auto& phase : stratum.loop) {
      for (const auto& version : phase.versions) visit_all(version, true);
    }
    for (const auto& subsumption : stratum.subsumptions) visit_all(subsumption.version, true);
  }

  [[nodiscard]] bool is_searched(const plan::stratum& stratum, const reading& one) const {
    using kind = plan::column_read::kind;
    const relation_type& source = shared_->relation_of(one.read.relation);
    const auto* const matrix = source.matrix();
    if (matrix == nullptr || !stratum.subsumptions.empty()) return false;
    if (!can.matrix_views && reads_repeatedly(stratum)) return false;
    if (joins_row_wise(stratum, one.version, one.read.relation) && (can.matrix_views || has_room_for_columns(source)))
      return false;
    if (one.read.how == kind::tuple) return true;
    // The strategies for these strata read columns.
    if (stratum.has_row_products() || (one.is_repeated && stratum.has_row_steps())) return false;
    const auto is_key_of = [&one](const std::vector<std::uint32_t>& columns) {
      return std::is_permutation(one.read.key.begin(), one.read.key.end(), columns.begin(), columns.end());
    };
    const bool is_source = is_key_of(matrix->source_columns());
    const bool is_side = is_source || is_key_of(matrix->target_columns());
    switch (one.read.how) {
      case kind::first_scan:
        return !one.is_repeated;
      case kind::key_test:
        return is_side;
      case kind::key:
        // A request by targets would read all rows in each iteration.
        if (one.is_repeated) return is_source && is_worth_asking(source);
        return is_side;
      case kind::tuple:
      case kind::other:
        return false;
    }
    return false;
  }

  /// Returns whether requests in each iteration of a recursion pay.
  [[nodiscard]] bool is_worth_asking(const relation_type& source) const {
    return static_cast<double>(source.matrix()->work() + calibration::work_of_asking) <= most_work(source);
  }

  /// Returns whether iterations read the same rows repeatedly, with different requests.
  [[nodiscard]] static bool reads_repeatedly(const plan::stratum& stratum) {
    return stratum.recursive || !stratum.subsumptions.empty();
  }

  /// Returns whether the version is joined row by row, which is much faster than tuple by tuple but requires columns.
  [[nodiscard]] bool joins_row_wise(const plan::stratum& stratum, const plan::rule_version& version,
                                    relation_id id) const {
    const auto joins = [id](const row_equations& rows) {
      return std::any_of(rows.rules.begin(), rows.rules.end(), [id](const row_rule& rule) {
        return rule.right && (rule.left->relation == id || rule.right->relation == id);
      });
    };
    return (version.rows && joins(*version.rows)) || (stratum.is_row_join() && joins(*stratum.rows));
  }

  [[nodiscard]] bool has_room_for_columns(const relation_type& source) const {
    const std::uint64_t memory =
        shared_->resource.limit() != 0 ? shared_->resource.limit() : shared_->machine.machine_bytes();
    const std::uint64_t left = memory - std::min(memory, shared_->resource.used());
    return source.rows() <= left / calibration::column_share / (sizeof(word) * source.arity());
  }

  plan_relations<Machine>* shared_;
};

}  // namespace gpulog::exec
