#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_runs.hpp"
#include "sema/analysis.hpp"
#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/parser.hpp"

/// Compares results of the engine with the naive evaluator.
namespace gpulog {

struct mode {
  storage_kind storage;
  unsigned jobs;
  const char* name;
  backend_kind backend = backend_kind::cpu;
  std::map<std::string, std::string, std::less<>> tuning = {};
};

inline const std::vector<mode> modes = {
    {storage_kind::hash, 1, "hash -j1"},
    {storage_kind::hash, 2, "hash -j2"},
    {storage_kind::hash, 4, "hash -j4"},
    {storage_kind::hisa, 1, "hisa -j1"},
    {storage_kind::hisa, 2, "hisa -j2"},
    {storage_kind::hisa, 4, "hisa -j4"},
    {storage_kind::hash, 1, "hash -j1, loops", backend_kind::cpu, {{"rows", "loop"}}},
    {storage_kind::hash, 1, "hash -j1, magic sets", backend_kind::cpu, {{"magic-sets", "on"}}},
    {storage_kind::hisa, 2, "hisa -j2, magic sets", backend_kind::cpu, {{"magic-sets", "on"}}},
    {storage_kind::bits, 3, "bits -j3, magic sets", backend_kind::cpu, {{"magic-sets", "on"}}},
    {storage_kind::hash, 1, "hash -j1, semi-joins", backend_kind::cpu, {{"semi-join-reduction", "on"}}},
    {storage_kind::hisa, 2, "hisa -j2, semi-joins", backend_kind::cpu, {{"semi-join-reduction", "on"}}},
    {storage_kind::words, 3, "words -j3, semi-joins", backend_kind::cpu, {{"semi-join-reduction", "on"}}},
    {storage_kind::bits, 1, "bits -j1, loops", backend_kind::cpu, {{"rows", "loop"}}},
    {storage_kind::bits, 3, "bits -j3"},
    {storage_kind::words, 1, "words -j1, loops", backend_kind::cpu, {{"rows", "loop"}}},
    {storage_kind::words, 3, "words -j3"},
    {storage_kind::hash, 1, "rows -j1", backend_kind::cpu, {{"rows", "on"}}},
    {storage_kind::hash, 3, "rows -j3, magic sets", backend_kind::cpu, {{"magic-sets", "on"}, {"rows", "on"}}},
    {storage_kind::hash, 1, "hash -j1, recursions by rows", backend_kind::cpu, {{"rows", "recursions"}}},
    {storage_kind::bits, 4, "bits -j4, recursions by rows", backend_kind::cpu, {{"rows", "recursions"}}},
    {storage_kind::hash, 1, "hash -j1, reoptimized", backend_kind::cpu, {{"reoptimization", "on"}}},
    {storage_kind::bits, 3, "bits -j3, reoptimized", backend_kind::cpu, {{"reoptimization", "on"}}},
    {storage_kind::hisa, 2, "hisa -j2, reoptimized", backend_kind::cpu, {{"reoptimization", "on"}}},
    {storage_kind::bits,
     1,
     "bits -j1, dense domains, reoptimized",
     backend_kind::cpu,
     {{"dense-domain-encoding", "on"}, {"reoptimization", "on"}}},
    {storage_kind::bits,
     2,
     "bits -j2, dense domains, rows",
     backend_kind::cpu,
     {{"dense-domain-encoding", "on"}, {"rows", "on"}}},
    {storage_kind::hisa, 1, "hisa -j1, dense domains", backend_kind::cpu, {{"dense-domain-encoding", "on"}}}};

inline const std::vector<mode> gpu_modes = {
    {storage_kind::hash, 1, "hash gpu", backend_kind::gpu},
    {storage_kind::hisa, 1, "hisa gpu", backend_kind::gpu},
    {storage_kind::hash, 1, "rows gpu", backend_kind::gpu, {{"rows", "on"}}},
    {storage_kind::hash, 1, "hash gpu, recursions by rows", backend_kind::gpu, {{"rows", "recursions"}}},
    {storage_kind::hash, 1, "hash gpu, semi-joins", backend_kind::gpu, {{"semi-join-reduction", "on"}}},
    {storage_kind::hash, 1, "hash gpu, reoptimized", backend_kind::gpu, {{"reoptimization", "on"}}},
    {storage_kind::hisa, 1, "hisa gpu, reoptimized", backend_kind::gpu, {{"reoptimization", "on"}}},
    {storage_kind::bits, 1, "bits gpu", backend_kind::gpu, {{"rows", "loop"}}},
    {storage_kind::words, 1, "words gpu", backend_kind::gpu, {{"rows", "loop"}}},
    {storage_kind::bits,
     1,
     "bits gpu, dense domains",
     backend_kind::gpu,
     {{"rows", "loop"}, {"dense-domain-encoding", "on"}}}};

/// Returns the number of random programs to run on a device: fewer on an emulated device.
inline std::uint64_t programs_for_gpu(std::uint64_t usual) {
  return oracle::programs_to_try(built_gpu().starts_with("emulated") ? usual / 10 : usual);
}

/// Returns why no device is available here, or an empty text.
inline std::string no_gpu() {
  run_options options;
  options.backend = backend_kind::gpu;
  try {
    const engine probe(program::from_text(".decl a(x:number)\na(1).\n"), options);
  } catch (const input_error& reason) {
    return reason.what();
  }
  return {};
}

/// The rows of a relation as texts.
using row_texts = std::multiset<std::vector<std::string>>;

inline row_texts rows_of(const relation& source) {
  row_texts result;
  const auto attributes = source.attributes();
  for (const tuple& row : source) {
    std::vector<std::string> columns;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const bool is_symbol = attributes[column].type == "symbol";
      columns.push_back(is_symbol ? std::string(row.symbol(column)) : std::to_string(row.word64(column)));
    }
    result.insert(std::move(columns));
  }
  return result;
}

using edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Evaluates a program with the naive evaluator and compares runs of the engine; `facts` go into the relation `e`.
class comparison {
 public:
  comparison(const std::string& text, const edges& facts, word_size words = word_size::bits32)
      : text_(text), facts_(facts), words_(words) {
    source_file& file = sources_.add("random.dl", text);
    const syntax::program parsed = syntax::parse(file, sources_, report_);
    if (!report_.has_errors()) analysed_ = sema::analyse(parsed, report_, {.warnings = false, .words = words});
    if (!analysed_) return;
    data_.emplace(*analysed_);
    for (const auto& [from, to] : facts) (*data_)[analysed_->find_relation("e").value()].insert({from, to});
    try {
      oracle::evaluate(*analysed_, *data_);
    } catch (const oracle::no_fixpoint&) {
      has_fixpoint_ = false;
    }
  }

  [[nodiscard]] bool accepted() const { return analysed_.has_value(); }
  [[nodiscard]] bool has_fixpoint() const { return has_fixpoint_; }
  /// Returns the number of strata in all runs so far that were searches over numbers.
  [[nodiscard]] std::uint64_t numbered_strata() const { return numbered_strata_; }
  /// Returns the number of strata in all runs so far that were product recursions.
  [[nodiscard]] std::uint64_t product_strata() const { return product_strata_; }
  [[nodiscard]] std::string report() const { return report_.to_string(); }

  void expect_same(const mode& how) const {
    run_options options;
    options.storage = how.storage;
    options.jobs = how.jobs;
    options.backend = how.backend;
    options.tuning = how.tuning;
    const auto unneeded = how.tuning.find("unneeded-relations");
    options.only_outputs = unneeded != how.tuning.end() && unneeded->second == "on";
    engine running(program::from_text(text_, {.include_directories = {},
                                              .macros = {},
                                              .pragmas = {},
                                              .warnings = false,
                                              .word_size = static_cast<unsigned>(words_)}),
                   options);
    if (!facts_.empty()) {
      relation input = running.relation("e");
      for (const auto& [from, to] : facts_) {
        input.insert({value(static_cast<std::int32_t>(from)), value(static_cast<std::int32_t>(to))});
      }
    }
    running.evaluate();
    for (const stratum_statistics& stratum : running.figures().strata) {
      numbered_strata_ += stratum.search_numbers != 0 ? 1 : 0;
      product_strata_ +=
          static_cast<std::uint64_t>(std::count(stratum.strategies.begin(), stratum.strategies.end(), "row-products"));
    }
    for (std::uint32_t number = 0; number < analysed_->relations.size(); ++number) {
      const bool is_output = analysed_->relations[number].has_directive(sema::directive_kind::output);
      if (options.only_outputs && !is_output) continue;
      const std::string& name = analysed_->relations[number].name;
      const auto expected = in_text(number);
      const auto actual = rows_of(running.relation(name));
      ASSERT_EQ(actual, expected) << how.name << ", relation " << name << "\n" << text_;
    }
  }

 private:
  /// Compares texts, because strings created at run time have different numbers in the engine.
  [[nodiscard]] row_texts in_text(std::uint32_t number) const {
    row_texts result;
    for (const oracle::tuple& row : (*data_)[relation_id(number)]) {
      std::vector<std::string> columns;
      for (std::size_t column = 0; column < row.size(); ++column) {
        const value_kind kind = analysed_->relations[number].attributes[column].kind;
        columns.push_back(kind == value_kind::symbol ? data_->text(row[column]) : std::to_string(row[column]));
      }
      result.insert(std::move(columns));
    }
    return result;
  }

  std::string text_;
  edges facts_;
  word_size words_;
  source_manager sources_;
  diagnostics report_;
  std::optional<sema::program> analysed_;
  std::optional<oracle::database> data_;
  bool has_fixpoint_ = true;
  mutable std::uint64_t numbered_strata_ = 0;
  mutable std::uint64_t product_strata_ = 0;
};

}  // namespace gpulog
