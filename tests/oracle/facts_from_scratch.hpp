#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "oracle/engine_comparison.hpp"

/// Helpers for tests of engines whose facts change.
namespace gpulog {

using fact = std::vector<value>;

/// The current facts of a program; computes results from scratch.
class facts_from_scratch {
 public:
  explicit facts_from_scratch(const std::string& text, word_size words) : words_(words) {
    source_file& file = sources_.add("random.dl", text);
    const syntax::program parsed = syntax::parse(file, sources_, report_);
    if (!report_.has_errors()) analysed_ = sema::analyse(parsed, report_, {.warnings = false, .words = words});
    if (!analysed_) return;
    facts_.resize(analysed_->relations.size());
    for (const sema::fact& one : analysed_->facts) {
      fact row;
      for (std::size_t column = 0; column < one.values.size(); ++column)
        row.push_back(value_of(one.values[column], kind(one.relation.value, column)));
      facts_[one.relation.value].insert(row);
    }
    analysed_->facts.clear();
  }

  [[nodiscard]] bool accepted() const { return analysed_.has_value(); }
  [[nodiscard]] const sema::program& analysed() const { return *analysed_; }
  [[nodiscard]] std::set<fact>& of(std::uint32_t relation) { return facts_[relation]; }
  [[nodiscard]] value_kind kind(std::uint32_t relation, std::size_t column) const {
    return analysed_->relations[relation].attributes[column].kind;
  }

  /// Returns values close to the values in random programs.
  template <class Random>
  [[nodiscard]] fact random_row(std::uint32_t relation, Random& random) const {
    fact row;
    for (std::size_t column = 0; column < analysed_->relations[relation].attributes.size(); ++column) {
      const auto drawn = static_cast<std::int32_t>(random() % 7);
      switch (kind(relation, column)) {
        case value_kind::symbol:
          row.emplace_back(std::string(1, static_cast<char>('a' + drawn)));
          break;
        case value_kind::floating:
          row.push_back(words_ == word_size::bits64 ? value(drawn + 0.5) : value(static_cast<float>(drawn) + 0.5F));
          break;
        case value_kind::unsigned_number:
          row.push_back(words_ == word_size::bits64 ? value(static_cast<std::uint64_t>(drawn))
                                                    : value(static_cast<std::uint32_t>(drawn)));
          break;
        default:
          row.push_back(words_ == word_size::bits64 ? value(std::int64_t{drawn}) : value(drawn));
      }
    }
    return row;
  }

  /// Returns the results by relation.
  [[nodiscard]] std::vector<row_texts> results() const {
    oracle::database data(*analysed_);
    for (std::uint32_t number = 0; number < facts_.size(); ++number) {
      for (const fact& row : facts_[number]) {
        oracle::tuple words;
        for (const value& one : row) words.push_back(word_of(one, data));
        data[relation_id(number)].insert(words);
      }
    }
    oracle::evaluate(*analysed_, data);
    std::vector<row_texts> all;
    for (std::uint32_t number = 0; number < facts_.size(); ++number) {
      row_texts& rows = all.emplace_back();
      for (const oracle::tuple& row : data[relation_id(number)]) {
        std::vector<std::string> columns;
        for (std::size_t column = 0; column < row.size(); ++column) {
          columns.push_back(kind(number, column) == value_kind::symbol ? data.text(row[column])
                                                                       : std::to_string(row[column]));
        }
        rows.insert(std::move(columns));
      }
    }
    return all;
  }

 private:
  [[nodiscard]] value value_of(wide_word word, value_kind kind) const {
    const bool is_wide = words_ == word_size::bits64;
    const auto narrow = static_cast<std::uint32_t>(word);
    switch (kind) {
      case value_kind::symbol:
        return analysed_->symbols[word];
      case value_kind::floating:
        return is_wide ? value(std::bit_cast<double>(word)) : value(std::bit_cast<float>(narrow));
      case value_kind::unsigned_number:
        return is_wide ? value(std::uint64_t{word}) : value(narrow);
      default:
        return is_wide ? value(static_cast<std::int64_t>(word)) : value(static_cast<std::int32_t>(narrow));
    }
  }

  static wide_word word_of(const value& given, oracle::database& data) {
    return std::visit(
        [&data](const auto& one) -> wide_word {
          using type = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<type, std::string>) return data.intern(one);
          if constexpr (std::is_same_v<type, float>) return std::bit_cast<std::uint32_t>(one);
          if constexpr (std::is_same_v<type, double>) return std::bit_cast<std::uint64_t>(one);
          if constexpr (std::is_same_v<type, std::int32_t>) return static_cast<std::uint32_t>(one);
          if constexpr (std::is_integral_v<type>) return static_cast<wide_word>(one);
          return 0;
        },
        given);
  }

  word_size words_;
  source_manager sources_;
  diagnostics report_;
  std::optional<sema::program> analysed_;
  std::vector<std::set<fact>> facts_;
};

inline engine engine_of(const std::string& text, const mode& how, word_size words, bool continues,
                        run_options options = {}) {
  options.storage = how.storage;
  options.jobs = how.jobs;
  options.backend = how.backend;
  options.tuning = how.tuning;
  if (continues) options.tuning["continuation"] = "on";
  compile_options compiled;
  compiled.warnings = false;
  compiled.word_size = static_cast<unsigned>(words);
  return engine(program::from_text(text, compiled), options);
}

/// Returns a second engine with the results of the first engine, as in a new process.
inline engine restored(engine first, engine other) {
  const std::string path = testing::TempDir() + "gpulog-again-" + std::to_string(getpid()) + ".state";
  first.save(path);
  other.restore(path);
  std::remove(path.c_str());
  return other;
}

}  // namespace gpulog
