#include "cli/test/expectation_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cli/explain_session.hpp"
#include "cli/line_text.hpp"
#include "cli/test/coverage.hpp"
#include "cli/test/expectation.hpp"
#include "cli/test/line_difference.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"
#include "io/files/output_files.hpp"
#include "syntax/format/format.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::cli {
namespace {

using kind = expectation::kind;

constexpr std::size_t proof_columns = 100;

bool is_about_messages(const expectation& one) { return one.what == kind::error || one.what == kind::warning; }

/// Orders numbers in the texts by their values.
std::string sort_key(const std::string& text) {
  constexpr std::size_t most_digits = 20;
  std::string key;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && syntax::is_digit(text[end])) ++end;
    if (end > at) key.append(most_digits - std::min(most_digits, end - at), '0');
    end = std::max(end, at + 1);
    key += text.substr(at, end - at);
    at = end;
  }
  return key;
}

void sort_by_value(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end(), [](const std::string& left, const std::string& right) {
    return std::pair(sort_key(left), left) < std::pair(sort_key(right), right);
  });
}

/// Returns proofs of a tuple, or why the tuple is missing; nothing for a question with comparisons.
std::string why_text(engine& run, const std::string& question) {
  try {
    return answer_why(run, question, proof_columns).text;
  } catch (const input_error&) {
    return {};
  }
}

/// Returns the first rows of a query, one per line, as `x = 1, y = a`.
std::string rows_text(const relation& rows) {
  constexpr std::size_t most_rows = 3;
  const std::vector<attribute> attributes = rows.attributes();
  std::string text;
  std::size_t count = 0;
  for (const tuple row : rows) {
    if (attributes.empty()) break;
    if (count++ == most_rows) return text + fmt::format("... and {} more\n", rows.size() - most_rows);
    for (std::size_t column = 0; column < attributes.size(); ++column)
      text += fmt::format("{}{} = {}", column == 0 ? "" : ", ", attributes[column].name, row.text(column));
    text += "\n";
  }
  return text;
}

class expectation_check {
 public:
  expectation_check(const test_case& test, const arguments& given, const test_options& options, test_result& result)
      : test_(test), given_(given), options_(options), result_(result), file_(sources_.load(test.program)) {
    for (expectation& one : expectations_in(file_)) {
      test_point point{test.program, one.first_line, one.text, one.fault, {}};
      checks_.push_back({std::move(one), std::move(point), {}, false});
    }
  }

  bool run() {
    if (checks_.empty() && test_.is_folder()) return true;
    if (checks_.empty()) {
      result_.fail(test_.program, "No comment states an expectation, as // expect reach(1, 2)");
      return true;
    }
    if (const std::optional<program> source = compiled()) run_program(*source);
    judge_messages();
    for (check& one : checks_) {
      if (!one.is_left_out) result_.points.push_back(std::move(one.point));
    }
    if (edits_.empty()) return errors_.empty();
    io::write_file(test_.program, syntax::apply_edits(file_.text(), edits_));
    result_.updated += edits_.size();
    return errors_.empty();
  }

 private:
  struct check {
    expectation stated;
    test_point point;
    std::string query;  ///< the name of the relation of the query; empty: none
    bool is_left_out;   ///< from the report, because of an unexpected error
  };

  /// Compiles the program with all queries. A query with errors becomes a fault of the expectation, and the next
  /// compilation leaves the query out.
  /// @return nothing for a program with errors
  std::optional<program> compiled() {
    for (;;) {
      compile_options options = given_.compile;
      options.expects_output = false;
      options.queries.clear();
      for (check& one : checks_) {
        one.query.clear();
        if (one.stated.query.empty() || !one.point.fault.empty()) continue;
        options.queries.push_back({one.stated.query, test_.program});
        one.query = fmt::format("query {}", options.queries.size());
      }
      program source = program::from_file(test_.program, options);
      warnings_.clear();
      for (const diagnostic& remark : source.diagnostics()) {
        if (remark.level == severity::warning) warnings_.push_back(remark.text);
      }
      if (source.ok()) return source;
      if (!take_errors(source.diagnostics())) return std::nullopt;
    }
  }

  /// Assigns errors in queries to expectations, and collects the errors of the program.
  /// @return whether all errors are in queries
  bool take_errors(const std::vector<diagnostic>& remarks) {
    std::vector<std::pair<check*, const diagnostic*>> faults;
    for (const diagnostic& remark : remarks) {
      if (remark.level != severity::error) continue;
      const auto place = std::find_if(checks_.begin(), checks_.end(), [&](const check& one) {
        return !one.query.empty() && remark.file == test_.program && remark.line >= one.stated.first_line &&
               remark.line <= one.stated.last_line;
      });
      if (place == checks_.end()) {
        errors_.push_back(remark.text);
      } else {
        faults.emplace_back(&*place, &remark);
      }
    }
    if (!errors_.empty() || faults.empty()) return false;
    for (const auto& [one, remark] : faults) {
      if (one->point.fault.empty()) one->point.fault = remark->message.substr(0, remark->message.find('\n'));
      one->point.detail += remark->text;
    }
    return true;
  }

  void run_program(const program& source) {
    run_options options = given_.run;
    options.proofs = true;
    if (options_.coverage) prepare_coverage(options);
    engine run(source, options);
    try {
      if (!test_.facts.empty()) run.load();
      run.evaluate();
    } catch (const cancelled_error&) {
      const auto& step = run.figures().outcome.step;
      throw cancelled_error(step ? to_text(*step) : std::string());
    } catch (const std::bad_alloc&) {
      errors_.emplace_back("Error: The memory is too small\n");
      return;
    } catch (const error& failure) {
      errors_.push_back(fmt::format("Error: {}\n", failure.what()));
      return;
    }
    for (check& one : checks_) {
      if (!one.point.fault.empty() || is_about_messages(one.stated)) continue;
      try {
        judge(one, run);
      } catch (const input_error& fault) {
        one.point.fault = fault.what();
      }
    }
    if (options_.coverage) add_coverage(source, run.figures(), test_.is_folder() ? "" : test_.program, result_.rules);
  }

  void judge(check& one, engine& run) {
    const expectation& stated = one.stated;
    const auto has_rows = [&] { return !run.relation(one.query).empty(); };
    if (stated.what == kind::holds && !has_rows()) {
      one.point.fault = stated.subject + " does not hold";
      one.point.detail = why_text(run, stated.subject);
    }
    if (stated.what == kind::fails && has_rows()) {
      one.point.fault = stated.subject + " holds";
      one.point.detail = why_text(run, stated.subject);
      if (one.point.detail.empty()) one.point.detail = rows_text(run.relation(one.query));
    }
    if (stated.what == kind::count) judge_count(one, run);
    if (stated.what == kind::set) judge_set(one, run);
  }

  void judge_count(check& one, engine& run) {
    const expectation& stated = one.stated;
    std::uint64_t count = 0;
    if (one.query.empty()) {
      count = run.relation(stated.subject).size();
    } else {
      for (const tuple row : run.relation(one.query)) count = row.word64(0);
    }
    if (count == stated.count || updates(one, fmt::format("{}", count))) return;
    one.point.fault = fmt::format("count({}) is {}, not {}", in_one_line(stated.subject), count, stated.count);
  }

  void judge_set(check& one, engine& run) {
    const expectation& stated = one.stated;
    std::vector<std::string> actual = tuples_of(stated.subject, run), wanted;
    for (const std::string& tuple : stated.tuples) {
      const tuple_matches match = run.matches(stated.subject + tuple, 1);
      if (!match.is_ground) throw input_error(fmt::format("{} has a variable or _: a set lists constants", tuple));
      wanted.push_back(match.tuples.empty() ? tuple : match.tuples.front().substr(stated.subject.size()));
    }
    sort_by_value(wanted);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const line_difference difference(wanted, actual);
    if (difference.empty() || updates(one, set_text(file_, stated, actual))) return;
    one.point.fault = fmt::format("{} has {}", stated.subject, difference.summary("tuple"));
    one.point.detail = difference.text();
    if (!difference.missing.empty()) one.point.detail += why_text(run, stated.subject + difference.missing.front());
    if (!difference.unexpected.empty())
      one.point.detail += why_text(run, stated.subject + difference.unexpected.front());
  }

  /// Returns the tuples of a relation with their parentheses, in the syntax of programs.
  static std::vector<std::string> tuples_of(const std::string& name, engine& run) {
    const relation whole = run.relation(name);
    std::string question = name + "(";
    for (std::size_t column = 0; column < whole.arity(); ++column)
      question += fmt::format("{}v{}", column == 0 ? "" : ", ", column);
    std::vector<std::string> tuples = run.matches(question + ")", whole.size() + 1).tuples;
    for (std::string& tuple : tuples) tuple.erase(0, name.size());
    sort_by_value(tuples);
    return tuples;
  }

  /// With --update, records the replacement of a count or set.
  bool updates(const check& one, std::string text) {
    if (!options_.update) return false;
    edits_.push_back({one.stated.value_begin, one.stated.value_end, std::move(text)});
    return true;
  }

  void judge_messages() {
    const auto contains = [](const check& one, const std::string& message) {
      return message.find(one.stated.subject) != std::string::npos;
    };
    for (check& one : checks_) {
      if (!one.point.fault.empty() || !is_about_messages(one.stated)) continue;
      const bool is_error = one.stated.what == kind::error;
      const std::vector<std::string>& messages = is_error ? errors_ : warnings_;
      if (std::any_of(messages.begin(), messages.end(), [&](const auto& text) { return contains(one, text); }))
        continue;
      const char* const name = is_error ? "error" : "warning";
      one.point.fault =
          messages.empty() ? fmt::format("The program has no {}", name) : fmt::format("No {} contains this text", name);
      for (const std::string& message : warnings_) one.point.detail += is_error ? "" : message;
    }
    std::string unexpected;
    for (const std::string& message : errors_) {
      const bool is_expected = std::any_of(checks_.begin(), checks_.end(), [&](const check& one) {
        return one.stated.what == kind::error && contains(one, message);
      });
      if (!is_expected) unexpected += message;
    }
    if (!unexpected.empty()) result_.fail(test_.program, "The program has errors", unexpected);
    if (errors_.empty()) return;
    for (check& one : checks_) {
      if (is_about_messages(one.stated) || !one.point.fault.empty()) continue;
      one.is_left_out = !unexpected.empty();
      one.point.fault = "Cannot be checked, because the program has errors";
    }
  }

  const test_case& test_;
  const arguments& given_;
  const test_options& options_;
  test_result& result_;
  source_manager sources_;
  source_file& file_;
  std::vector<check> checks_;
  std::vector<std::string> errors_, warnings_;  ///< as printed
  std::vector<syntax::text_edit> edits_;
};

}  // namespace

bool check_expectations(const test_case& test, const arguments& given, const test_options& options,
                        test_result& result) {
  return expectation_check(test, given, options, result).run();
}

}  // namespace gpulog::cli
