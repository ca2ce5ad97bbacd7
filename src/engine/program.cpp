#include "gpulog/program.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/declarations.hpp"
#include "engine/engine_state.hpp"
#include "engine/program_state.hpp"
#include "engine/stages.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"
#include "kernels/steps/text_pattern.hpp"
#include "sema/analysis.hpp"
#include "sema/print.hpp"
#include "sema/rewriting/text_tests.hpp"
#include "support/diagnostics.hpp"
#include "support/suggestion.hpp"
#include "syntax/parser.hpp"

namespace gpulog {
namespace {

using detail::program_state;

/// @throws input_error for an unsupported word size
word_size word_size_of(const compile_options& options) {
  if (options.word_size == 32) return word_size::bits32;
  if (options.word_size == 64) return word_size::bits64;
  throw input_error("words have 32 or 64 bits, not " + std::to_string(options.word_size));
}

/// Warns about malformed patterns in the program text. The evaluation cannot report them.
void warn_of_wrong_patterns(const std::vector<sema::literal>& body, const sema::program& analysed,
                            diagnostics& report) {
  for (const sema::literal& part : body) {
    if (const auto* aggregate = std::get_if<sema::aggregate>(&part)) {
      warn_of_wrong_patterns(aggregate->body, analysed, report);
    }
    const auto* test = std::get_if<sema::constraint>(&part);
    const bool has_pattern =
        test != nullptr && (test->op == comparison_op::matches || test->op == comparison_op::not_matches);
    if (!has_pattern || !test->left.is_constant()) continue;
    const std::string text(analysed.symbol_text(test->left.constant));
    if (kernels::text_pattern(text).match("") == kernels::text_pattern::outcome::bad_pattern) {
      report.warning(test->left.span, "Wrong pattern provided for match: \"" + text + "\"");
    }
  }
}

/// Adds the stages that a value of the pragma `show` names.
void add_shown_stages(program_state& state, const std::string& value, const source_span& where, diagnostics& report) {
  const std::vector<std::string>& known = detail::stage_names();
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    std::string stage = value.substr(begin, end - begin);
    begin = end + 1;
    if (std::find(known.begin(), known.end(), stage) != known.end()) {
      state.shown_stages.push_back(std::move(stage));
    } else {
      report.error(where, "The pragma show names no stage " + stage + did_you_mean(stage, known));
    }
  }
}

void collect_shown_stages(program_state& state, const compile_options& options, diagnostics& report) {
  bool is_given = false;
  for (const auto& [name, value] : options.pragmas) {
    if (name != "show") continue;
    is_given = true;
    add_shown_stages(state, value, {}, report);
  }
  for (const syntax::item& item : state.parsed.items) {
    const auto* pragma = item.as<syntax::pragma>();
    if (pragma != nullptr && pragma->name == "show" && !is_given) {
      add_shown_stages(state, pragma->value, pragma->span, report);
    }
  }
}

/// From a source file of `state` to its analysis; only to its tree, where the rest needs a deep stack.
void compile(program_state& state, source_file& main_file, const compile_options& options) {
  const auto begin = std::chrono::steady_clock::now();
  state.options = options;
  syntax::parse_options parsing;
  parsing.include_directories = options.include_directories;
  if (parsing.include_directories.empty()) parsing.include_directories = {"."};
  parsing.macros = options.macros;
  parsing.warnings = options.warnings;
  if (state.is_deep) parsing.deepest = syntax::deepest_nesting;
  state.words = word_size_of(options);
  parsing.word_bits = options.word_size;

  diagnostics report;
  if (options.portable && options.warnings) report.keep(warning_kind::portable);
  for (const std::string& name : options.left_out_warnings) {
    if (const auto kind = warning_from_name(name)) report.leave_out(*kind);
  }
  if (std::any_of(options.pragmas.begin(), options.pragmas.end(),
                  [](const auto& pragma) { return pragma.first == "legacy"; })) {
    for (const warning_kind kind :
         {warning_kind::deprecated_type_declaration, warning_kind::deprecated_qualifier, warning_kind::dollar_sign}) {
      report.leave_out(kind);
    }
  }
  state.parsed = syntax::parse(main_file, state.sources, report, parsing);
  std::vector<syntax::query> queries;
  for (const query_text& asked : options.queries) {
    source_file& text = state.query_sources.add(asked.name, asked.text);
    if (auto parsed = syntax::parse_query(text, state.query_sources, report, parsing))
      queries.push_back(std::move(*parsed));
  }
  if (state.parsed.needs_deep_stack && !state.is_deep) return;
  sema::replace_text_tests(state.parsed, queries);
  state.syntax_errors = report.error_count();
  collect_shown_stages(state, options, report);
  if (!report.has_errors()) {
    sema::analysis_options analysis;
    analysis.warnings = options.warnings;
    analysis.words = state.words;
    for (const auto& [name, value] : options.pragmas) analysis.pragmas[name] = value;
    state.filled_relations = {options.filled_relations.begin(), options.filled_relations.end()};
    analysis.filled_relations = state.filled_relations;
    analysis.queries = std::move(queries);
    analysis.query_parameters = options.query_parameters;
    analysis.only_queries = options.only_queries;
    analysis.expects_output = options.expects_output;
    analysis.lint = options.lint;
    if (state.symbols_of != nullptr) {
      analysis.number_symbol = [symbols = state.symbols_of](const std::string& text) {
        return wide_word{symbols->intern(text)};
      };
    }
    state.analysed = sema::analyse(state.parsed, report, analysis);
    if (options.warnings && state.analysed) {
      for (const sema::rule& rule : state.analysed->rules) warn_of_wrong_patterns(rule.body, *state.analysed, report);
      for (const sema::rule& rule : state.analysed->subsumptions) {
        warn_of_wrong_patterns(rule.body, *state.analysed, report);
      }
    }
  }
  if (state.analysed) {
    for (const std::string& name : options.filled_relations) (void)detail::relation_named(name, *state.analysed);
  }
  state.is_cut_off = report.is_cut_off();
  state.remarks = report.to_public();
  state.report = report.to_string();
  state.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A program whose expressions are too deep for a usual stack is read again, on a deep stack.
/// @param open gives a state its text
std::shared_ptr<program_state> compiled(const compile_options& options,
                                        const std::function<source_file&(program_state&)>& open) {
  auto state = std::make_shared<program_state>();
  compile(*state, open(*state), options);
  if (!state->parsed.needs_deep_stack) return state;
  auto deep = std::make_shared<program_state>();
  deep->is_deep = true;
  if (!on_deep_stack([&] { compile(*deep, open(*deep), options); })) {
    throw input_error(
        "The program has very deep expressions or long rules, and no thread with a stack of 1 GiB starts");
  }
  return deep;
}

std::vector<relation_declaration> declarations(const program_state& state, bool of_queries) {
  std::vector<relation_declaration> declarations;
  if (!state.analysed) return declarations;
  for (const sema::relation& relation : state.analysed->relations) {
    if (relation.is_query != of_queries) continue;
    declarations.push_back({relation.name, detail::attributes_of(relation, *state.analysed),
                            relation.has_directive(sema::directive_kind::input),
                            relation.has_directive(sema::directive_kind::output)});
  }
  return declarations;
}

/// Returns sources by their paths.
std::map<std::string, stored_source> stored_texts(const std::vector<source_text>& sources) {
  std::map<std::string, stored_source> stored;
  for (const source_text& source : sources) stored[source.path] = {source.identity, source.text};
  return stored;
}

}  // namespace

program program::from_file(const std::string& path, const compile_options& options) {
  return program(compiled(options, [&](program_state& state) -> source_file& { return state.sources.load(path); }));
}

program program::from_text(std::string text, const compile_options& options, const std::string& name) {
  return program(
      compiled(options, [&](program_state& state) -> source_file& { return state.sources.add(name, text); }));
}

program engine::read(std::string text, const compile_options& options, const std::string& name) const {
  return program(compiled(options, [&](program_state& state) -> source_file& {
    state.symbols_of = &state_->run().values.symbols;
    return state.sources.add(name, text);
  }));
}

program engine::read_query(std::string body) const {
  const program before(state_->run().source);
  const std::vector<source_text> texts = before.sources();
  compile_options options = before.state()->options;
  options.queries = {{std::move(body)}};
  options.warnings = options.only_queries = options.expects_output = false;
  program read(compiled(options, [&](program_state& state) -> source_file& {
    state.symbols_of = &state_->run().values.symbols;
    state.prints_queries = false;
    state.sources = source_manager(stored_texts(texts));
    return state.sources.load(texts.front().path);
  }));
  if (!read.ok()) throw query_error(read.report(), read.diagnostics());
  return read;
}

program program::from_sources(const std::vector<source_text>& sources, const compile_options& options) {
  if (sources.empty()) throw input_error("a program has a file at least");
  return program(compiled(options, [&](program_state& state) -> source_file& {
    state.sources = source_manager(stored_texts(sources));
    return state.sources.load(sources.front().path);
  }));
}

std::vector<source_text> program::sources() const {
  std::vector<source_text> texts;
  std::set<std::string_view> known;
  const auto add = [&](const std::string& path, std::string_view text) {
    if (known.insert(path).second) texts.push_back({path, state_->sources.identity(path), std::string(text)});
  };
  for (const auto& file : state_->sources.files()) add(file->path(), file->text());
  for (const std::string& path : state_->sources.passed_over()) add(path, {});
  return texts;
}

bool program::ok() const { return state_->analysed.has_value(); }

const std::vector<diagnostic>& program::diagnostics() const { return state_->remarks; }

const std::string& program::report() const { return state_->report; }

std::size_t program::syntax_error_count() const { return state_->syntax_errors; }

bool program::is_cut_off() const { return state_->is_cut_off; }

std::vector<relation_declaration> program::relations() const { return declarations(*state_, false); }

std::vector<program_fact> program::facts() const {
  std::vector<program_fact> facts;
  if (!state_->analysed) return facts;
  const sema::program& analysed = *state_->analysed;
  const auto add = [&](std::string text, const source_span& span) {
    facts.push_back({std::move(text), span.file->path(), span.begin, span.end});
  };
  for (const sema::fact& fact : analysed.facts) add(sema::to_text(analysed, fact), fact.span);
  for (const sema::rule& rule : analysed.rules) {
    // A fact with records, branches or functors is a rule without a body.
    if (!rule.body.empty() || !rule.variables.empty()) continue;
    std::string text = sema::source_text(analysed, rule);
    text.pop_back();  // the dot
    add(std::move(text), rule.head.span);
  }
  return facts;
}

std::vector<relation_declaration> program::queries() const { return declarations(*state_, true); }

std::vector<relation_declaration> program::inputs() const {
  auto found = relations();
  std::erase_if(found, [](const relation_declaration& relation) { return !relation.is_input; });
  return found;
}

std::vector<relation_declaration> program::outputs() const {
  auto found = relations();
  std::erase_if(found, [](const relation_declaration& relation) { return !relation.is_output; });
  return found;
}

std::vector<structured_type> program::types() const {
  return state_->analysed ? detail::types_of(*state_->analysed) : std::vector<structured_type>();
}

unsigned program::word_size() const { return static_cast<unsigned>(state_->words); }

const std::vector<std::string>& program::stages() { return detail::stage_names(); }

const std::vector<std::string>& program::shown_stages() const { return state_->shown_stages; }

std::string program::show(std::string_view stage, const run_options& options) const {
  return detail::on_stack_for(*state_, [&] { return detail::show_stage(*state_, stage, options); });
}

}  // namespace gpulog
