#include "cli/arguments.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/help_text.hpp"
#include "cli/messages.hpp"
#include "cli/rank_start.hpp"
#include "cli/repl/repl.hpp"
#include "cli/state_arguments.hpp"
#include "cli/subcommands.hpp"
#include "cli/tuning_arguments.hpp"
#include "gpulog/program.hpp"
#include "support/diagnostics.hpp"
#include "support/suggestion.hpp"

namespace gpulog::cli {
namespace {

constexpr std::string_view jobs_error = "-j/--jobs may only be set to 'auto' or an integer greater than 0.";

// Values of -t: an explain session after the run, or none.
constexpr std::string_view explain_provenance = "explain";
constexpr std::string_view no_provenance = "none";

/// Options of Soufflé that gpulog does not support, each with the printed reason.
const std::map<std::string, std::string>& refused_options() {
  static const std::string no_compiler = "gpulog needs no compiler and makes no C++: run the program directly";
  static const std::map<std::string, std::string> reasons = {
      {"-g,--generate", no_compiler},
      {"-G,--generate-many", no_compiler},
      {"-s,--swig", "there are no generated bindings: use the C++ interface in include/gpulog"},
      {"-r,--debug-report", "there is no HTML report: use --show with the stages of interest"},
      {"--preprocessor", "gpulog reads #-lines itself and runs no other program"},
  };
  return reasons;
}

/// An option of Soufflé without an effect in gpulog.
struct ignored_option {
  const char* names;
  bool takes_value;
  const char* description;
};

constexpr ignored_option ignored_options[] = {
    {"-a,--auto-schedule", true, "no effect: joins are always scheduled by the relations' sizes"},
    {"-z,--disable-transformers", true, "no effect: names of Soufflé's transformers"},
    {"-c,--compile", false, "no effect: gpulog runs programs without a compiler"},
    {"-C,--compile-many", false, "no effect: gpulog runs programs without a compiler"},
    {"--emit-statistics", false, "no effect: see --stats"},
    {"-N,--generate-namespace", true, "no effect: nothing is generated"},
    {"--live-profile", false, "no effect: progress is shown on a terminal"},
    {"--no-preprocessor", false, "no effect: there is no external preprocessor"},
    {"--profile-frequency", false, "no effect: frequencies are always counted"},
};

/// Rejects "" for options whose empty value would equal the absence of the option.
CLI::Validator not_empty() {
  return CLI::Validator([](const std::string& text) { return std::string(text.empty() ? "its value is empty" : ""); },
                        "");
}

/// A value of --format.
struct query_format {
  std::string_view name;
  std::pair<std::string_view, std::string_view> parameters[2];  ///< of .output
};

constexpr query_format query_formats[] = {
    {"table", {}},
    {"csv", {{"framed", "false"}, {"rfc4180", "true"}}},
    {"tsv", {{"framed", "false"}, {}}},
    {"json", {{"IO", "json"}, {"format", "object"}}},
};

/// Pragmas without a value.
constexpr std::string_view pragmas_without_value[] = {"legacy"};

std::string version_text() {
  const std::string gpu = built_gpu();
  return fmt::format("gpulog {}\nBackends: {}{}\nWord size: 32 bits, or 64 bits with --word-size 64\n", version(),
                     fmt::join(built_backends(), ", "), gpu.empty() ? "" : " (" + gpu + ")");
}

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

/// Returns 0 for "auto", and nothing for a text that is not a positive number of threads.
std::optional<unsigned> jobs_from_text(std::string_view text) {
  if (text == "auto") return 0U;
  // More workers than processors only use memory.
  constexpr unsigned most_threads = 1024;
  unsigned jobs = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (failure != std::errc{} || end != text.data() + text.size() || jobs == 0) return std::nullopt;
  return std::min(jobs, most_threads);
}

/// Parses "RELATION=cpu" or "RELATION=gpu"; returns nothing for other texts.
std::optional<std::pair<std::string, backend_kind>> place_from_text(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == 0 || equals == std::string::npos) return std::nullopt;
  const auto backend = backend_from_name(text.substr(equals + 1));
  if (!backend || *backend == backend_kind::automatic) return std::nullopt;
  return std::pair(text.substr(0, equals), *backend);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

parse_result fail(std::string_view message) {
  print_remark(severity::error, message);
  return {std::nullopt, 1};
}

/// The options as texts, before validation.
struct raw_arguments {
  std::vector<std::string> files, queries, show, macros, pragmas, places, tuning, inline_exclude, magic, magic_exclude,
      warn, warn_not;
  std::string jobs = "1", backend = "auto", storage = "auto", memory_limit;
  std::string provenance;
  std::string word_size = "32", colour = "auto", diagnostics = "text", format = "table";
  bool no_warnings = false, show_version = false, parse_errors = false, legacy = false, portable = false;
  bool has_fact_folder = false, has_output_folder = false;
};

/// An option of Soufflé that gpulog does not support.
struct refused_option {
  const CLI::Option* option;
  std::string names, reason;

  [[nodiscard]] bool is_given() const { return !option->results().empty(); }
};

/// Returns a message about the first unsupported option that was given; empty without such an option.
std::string refusal(const std::vector<refused_option>& refused) {
  for (const refused_option& one : refused) {
    if (one.is_given()) return fmt::format("option {} is not supported: {}", one.names, one.reason);
  }
  return {};
}

/// Returns "; did you mean --jobs?" for a misspelled option, or an empty text.
std::string meant_option(const CLI::App& app, const std::vector<std::string>& texts) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& text : texts) {
    const std::string name = text.substr(0, text.find('='));
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (const auto meant = closest_name(name, known)) return fmt::format("; did you mean {}?", *meant);
  }
  return {};
}

/// Returns a message if the first word is no file but looks like the name of a command, or an empty text.
std::string meant_command(const std::vector<std::string>& words) {
  std::error_code ignored;
  if (words.empty() || std::filesystem::exists(words.front(), ignored)) return {};
  const std::optional<std::string> meant = closest_name(words.front(), subcommand_names());
  if (!meant) return {};
  return fmt::format("there is no file or command {}; did you mean gpulog {}?", words.front(), *meant);
}

/// @param is_image whether the executable contains a program, so that no file is needed
parse_result checked(const raw_arguments& raw, arguments parsed, bool is_image) {
  const auto jobs = jobs_from_text(raw.jobs);
  if (!jobs) return fail(jobs_error);
  parsed.run.jobs = *jobs;

  const auto backend = backend_from_name(raw.backend);
  if (!backend && (raw.backend == "cuda" || raw.backend == "hip"))
    return fail(fmt::format("--backend {}: this gpulog was built for {}", raw.backend,
                            built_gpu().empty() ? "no GPU" : built_gpu()));
  if (!backend) return fail(fmt::format("--backend may only be set to auto, cpu or gpu, not to '{}'", raw.backend));
  parsed.run.backend = *backend;
  const auto built = built_backends();
  if (backend == backend_kind::gpu && std::find(built.begin(), built.end(), "gpu") == built.end()) {
    return fail(fmt::format("--backend {}: this gpulog was built without a GPU backend (backends: {})", raw.backend,
                            fmt::join(built, ", ")));
  }

  for (const std::string& text : raw.places) {
    auto place = place_from_text(text);
    if (!place) return fail(fmt::format("--place has to be RELATION=cpu or RELATION=gpu, not '{}'", text));
    parsed.run.places.push_back(std::move(*place));
  }

  const auto storage = storage_from_name(raw.storage);
  if (!storage)
    return fail(fmt::format("--storage may only be set to auto, hisa, hash, bits or words, not to '{}'", raw.storage));
  parsed.run.storage = *storage;
  if (const std::string fault = read_tuning(raw.tuning, parsed.run); !fault.empty()) return fail(fault);

  if (raw.word_size != "32" && raw.word_size != "64") {
    return fail(fmt::format("--word-size may only be set to 32 or 64, not to '{}'", raw.word_size));
  }
  parsed.compile.word_size = raw.word_size == "64" ? 64 : 32;

  if (!raw.memory_limit.empty()) {
    const auto bytes = bytes_from_text(raw.memory_limit);
    if (!bytes || *bytes == 0) {
      return fail(fmt::format("--memory-limit has to be a size such as 4G or 500M, not '{}'", raw.memory_limit));
    }
    parsed.run.memory_limit = *bytes;
  }

  for (const std::string& group : raw.show) {
    for (std::string& stage : split(group, ',')) {
      const auto& known = program::stages();
      if (std::find(known.begin(), known.end(), stage) == known.end()) {
        return fail(fmt::format("--show knows no '{}'{} (it knows {})", stage, did_you_mean(stage, known),
                                fmt::join(known, ", ")));
      }
      parsed.show.push_back(std::move(stage));
    }
  }
  if (raw.parse_errors) parsed.show.emplace_back("parse-errors");

  for (const std::string& pragma : raw.pragmas) {
    const std::size_t colon = pragma.find(':');
    const std::string_view name = std::string_view(pragma).substr(0, colon);
    const bool needs_value = std::find(std::begin(pragmas_without_value), std::end(pragmas_without_value), name) ==
                             std::end(pragmas_without_value);
    if (name.empty() || (colon == std::string::npos && needs_value)) {
      return fail(fmt::format("-P/--pragma has to be KEY:VALUE, not '{}'", pragma));
    }
    parsed.compile.pragmas.emplace_back(pragma.substr(0, colon),
                                        colon == std::string::npos ? "" : pragma.substr(colon + 1));
  }
  if (!raw.provenance.empty()) {
    if (raw.provenance != no_provenance && raw.provenance != explain_provenance) {
      return fail(fmt::format("-t/--provenance may only be set to explain or none, not to '{}'", raw.provenance));
    }
    parsed.explain_session = raw.provenance == explain_provenance;
    parsed.compile.pragmas.emplace_back("provenance", no_provenance);  // overrides the program's own pragma
  }
  if (raw.legacy) parsed.compile.pragmas.emplace_back("legacy", "");
  if (!raw.inline_exclude.empty()) {
    parsed.compile.pragmas.emplace_back("inline-exclude", fmt::format("{}", fmt::join(raw.inline_exclude, ",")));
  }
  if (!raw.magic.empty()) {
    parsed.compile.pragmas.emplace_back("magic-transform", fmt::format("{}", fmt::join(raw.magic, ",")));
  }
  if (!raw.magic_exclude.empty()) {
    parsed.compile.pragmas.emplace_back("magic-transform-exclude",
                                        fmt::format("{}", fmt::join(raw.magic_exclude, ",")));
  }
  const auto format = std::find_if(std::begin(query_formats), std::end(query_formats),
                                   [&](const query_format& one) { return raw.format == one.name; });
  if (format == std::end(query_formats))
    return fail(fmt::format("--format may only be set to table, csv, tsv or json, not to '{}'", raw.format));
  for (const auto& [name, parameter] : format->parameters) {
    if (!name.empty()) parsed.compile.query_parameters.insert_or_assign(std::string(name), std::string(parameter));
  }
  for (const std::string& query : raw.queries) parsed.compile.queries.push_back({query, "--query"});
  // A folder for outputs means that outputs are wanted.
  parsed.compile.only_queries = !raw.queries.empty() && !raw.has_output_folder;
  const bool has_other_results = !raw.queries.empty() || !parsed.why.empty() || parsed.explain_session ||
                                 parsed.explain || !parsed.profile_file.empty() || !parsed.statistics_file.empty();
  parsed.compile.expects_output = !has_other_results;
  if (raw.has_fact_folder) parsed.compile.pragmas.emplace_back("fact-dir", parsed.run.fact_directory);
  if (raw.has_output_folder) parsed.compile.pragmas.emplace_back("output-dir", parsed.run.output_directory);
  for (const std::string& group : raw.macros) {
    for (std::string& macro : split(group, ' ')) parsed.compile.macros.push_back(std::move(macro));
  }
  for (const std::string& directory : parsed.compile.include_directories) {
    if (!is_image && !is_directory(directory))
      return fail(fmt::format("Include directory {} does not exist", directory));
  }

  if (raw.colour != "auto" && raw.colour != "always" && raw.colour != "never") {
    return fail(fmt::format("--color may only be set to auto, always or never, not to '{}'", raw.colour));
  }
  if (raw.diagnostics != "text" && raw.diagnostics != "json") {
    return fail(fmt::format("--diagnostics may only be set to text or json, not to '{}'", raw.diagnostics));
  }
  if (!raw.no_warnings && !is_image) {
    warn_of_unknown_warnings("--wno", raw.warn_not);
    warn_of_unknown_warnings("-W/--warn", raw.warn);
  }
  parsed.compile.warnings = !raw.no_warnings;
  for (const std::string& name : raw.warn_not) {
    if (name == "all") parsed.compile.warnings = false;
    if (std::find(raw.warn.begin(), raw.warn.end(), name) == raw.warn.end()) {
      parsed.compile.left_out_warnings.push_back(name);
    }
  }
  parsed.compile.portable = raw.portable || std::find(raw.warn.begin(), raw.warn.end(), "portable") != raw.warn.end();
  parsed.run.missing_facts_are_empty = raw.no_warnings;
  parsed.run.output_to_stdout = parsed.run.output_directory == "-";

  if (is_image && !raw.files.empty()) {
    return fail(fmt::format("this executable is a program already and takes no file, as {}", raw.files.front()));
  }
  const bool is_entered =
      is_interactive() && parsed.show.empty() && parsed.executable_file.empty() && parsed.compile.queries.empty();
  if (raw.files.empty() && !is_image && !is_entered) {
    print_message("No datalog file specified.\n");
    return {std::nullopt, 0};
  }
  if (const std::string command = meant_command(raw.files); !command.empty()) return fail(command);
  if (raw.files.size() > 1)
    return fail(fmt::format("only one datalog file can be run, but {} are given", raw.files.size()));
  if (!raw.files.empty()) parsed.program_file = raw.files.front();
  if (const std::string fault = state_fault(parsed, is_image); !fault.empty()) return fail(fault);
  if (!parsed.executable_file.empty()) return {std::move(parsed), 0};  // -o reads no facts and writes no outputs

  if (!is_directory(parsed.run.fact_directory)) {
    return fail(fmt::format("Fact directory {} does not exist", parsed.run.fact_directory));
  }
  if (!parsed.run.output_to_stdout && !parsed.run.output_directory.empty() &&
      !is_directory(parsed.run.output_directory)) {
    return fail(fmt::format("Output directory {} does not exist", parsed.run.output_directory));
  }
  return {std::move(parsed), 0};
}

/// Reads the options into `raw` and `parsed`; options that are not given keep their values.
/// @param is_image whether the executable was built by `-o`
/// @return a result if the command ends here
std::optional<parse_result> read(const std::vector<std::string>& texts, bool is_image, raw_arguments& raw,
                                 arguments& parsed) {
  CLI::App app("gpulog runs Datalog programs in the dialect of Soufflé.", "gpulog");
  app.set_help_flag("-h,--help", "print this text");

  app.add_option("program", raw.files,
                 "program file (.dl); - reads standard input; without a file, a terminal opens a session")
      ->group(is_image ? "" : "Positionals");
  const auto value = [&app](const char* names, auto& into, const char* type, const std::string& description) {
    return app.add_option(names, into, description)->type_name(type)->allow_extra_args(false);
  };
  constexpr const char* own = "gpulog's own";
  const auto own_value = [&](const char* names, auto& into, const char* type, const std::string& description) {
    return value(names, into, type, description)->group(own);
  };
  const auto* const fact_folder =
      value("-F,--fact-dir,--facts", parsed.run.fact_directory, "DIR", "folder of the .facts files");
  const auto* const output_folder =
      value("-D,--output-dir,--output", parsed.run.output_directory, "DIR",
            "folder for output files; - prints every .output on standard output; '' writes nothing");
  if (is_image) {
    app.add_flag("-i,--index")->group("");  // ignored, as in gpulog itself
  } else {
    value("-o,--dl-program", parsed.executable_file, "FILE",
          "make an executable of the program that takes the same options, instead of running it")
        ->check(not_empty());
  }
  value("-j,--jobs", raw.jobs, "N", "worker threads, or auto");
  app.add_flag("-w,--no-warn", raw.no_warnings, "no warnings; a missing fact file is an empty relation");
  value("--wno", raw.warn_not, "NAME",
        "disable the warnings with this name, such as var-appears-once, or all (repeatable)");
  value("-W,--warn", raw.warn, "NAME", "enable the warnings with this name, in spite of --wno (repeatable)");
  app.add_flag("-v,--verbose", parsed.verbose, "print each step and its time on standard error");
  value("-I,--include-dir", parsed.compile.include_directories, "DIR", "folder that .include searches (repeatable)");
  value("-M,--macro", raw.macros, "TEXT", "macros for #if and #ifdef, such as \"A B=1\"");
  value("-P,--pragma", raw.pragmas, "KEY:VALUE", "same as .pragma \"KEY\" \"VALUE\" (repeatable)");
  value("-l,--libraries", parsed.run.functor_libraries, "NAME",
        "library of functors: NAME for libNAME.so (repeatable; functors by default)");
  value("-L,--library-dir", parsed.run.functor_directories, "DIR",
        "folder that -l searches (repeatable; . by default)");
  value("--show", raw.show, "LIST",
        fmt::format("print stages instead of running, separated by commas: {}", fmt::join(program::stages(), ", ")));
  app.add_flag("--parse-errors", raw.parse_errors, "same as --show parse-errors");
  value("-p,--profile", parsed.profile_file, "FILE",
        "write the record of the run: times, sizes and plans (JSON); gpulog profile FILE reads it")
      ->check(not_empty());
  value("--profile-every", parsed.profile_every, "SECONDS", "also write the file of -p in this interval during the run")
      ->check(CLI::PositiveNumber);
  app.add_flag("--portable", raw.portable, "warn about extensions that Soufflé does not have");
  app.add_flag("--legacy", raw.legacy,
               "accept arguments whose type is no subtype of the declared type; no warnings about deprecated forms");
  value("-t,--provenance", raw.provenance, "WHAT",
        "explain: after the run, answers questions about tuples from standard input; or none");
  value("--inline-exclude", raw.inline_exclude, "LIST", "relations that must not be inlined, separated by commas");
  value("-m,--magic-transform", raw.magic, "LIST",
        "relations of which only the tuples that queries and outputs need are derived, separated by commas; * for all");
  value("--magic-transform-exclude", raw.magic_exclude, "LIST",
        "relations that -m must not change; they are not inlined either");
  app.add_flag("--version", raw.show_version, "print version, backends and word sizes");

  own_value("--backend", raw.backend, "NAME", "auto, cpu or gpu");
  own_value("--device", parsed.run.device, "N", "number of the backend's device, from 0");
  own_value("--place", raw.places, "TEXT",
            "RELATION=cpu or RELATION=gpu: machine that evaluates the relation (repeatable)");
  own_value("--storage", raw.storage, "NAME", "auto, hisa, hash, bits or words");
  own_value("--tune", raw.tuning, "TEXT",
            "NAME=VALUE: setting of the planner or the engine; help lists the settings (repeatable)");
  own_value("--word-size", raw.word_size, "N", "bits of numbers, unsigned numbers and floats: 32 or 64");
  own_value("--memory-limit", raw.memory_limit, "SIZE", "most bytes for relations and symbols, such as 500M or 4G")
      ->check(not_empty());
  own_value("--spill", parsed.run.spill_directory, "DIR", "folder for large relations when memory is short")
      ->check(not_empty());
  own_value("--stats", parsed.statistics_file, "FILE", "same as -p")->check(not_empty());
  add_rank_option(app, own, parsed.ranks);
  add_state_options(app, own, parsed.run);

  own_value("--color", raw.colour, "WHEN", "colors in errors and warnings: auto (on a terminal), always or never");
  own_value("--diagnostics", raw.diagnostics, "FORM",
            "form of errors and warnings: text, or json with one object per line");
  own_value("--query", raw.queries, "BODY",
            "print the answers to a query such as 'reach(\"a\",x), x != 3'; other relations are evaluated only if the "
            "query needs them (repeatable)");
  app.add_flag("--explain", parsed.explain,
               "after the run, print the plan of each rule with expected and actual rows and times of each step")
      ->group(own);

  own_value("--format", raw.format, "NAME", "form of the answers to --query: table, csv, tsv or json");
  own_value("--why", parsed.why, "TUPLE", "print a proof of a tuple, such as \"reach(1,5)\" (repeatable)");

  constexpr const char* accepted = "Soufflé's, accepted without effect";
  std::vector<std::string> ignored_values;
  for (const ignored_option& option : ignored_options) {
    if (option.takes_value) {
      value(option.names, ignored_values, "TEXT", option.description)->group(accepted);
    } else {
      app.add_flag(option.names, option.description)->group(accepted);
    }
  }
  std::vector<refused_option> refused;
  for (const auto& [names, reason] : refused_options()) {
    CLI::Option* option = app.add_option(names, ignored_values)->allow_extra_args(false);
    std::string shown = names;
    std::replace(shown.begin(), shown.end(), ',', '/');
    refused.push_back({option->group(""), std::move(shown), reason});
  }

  try {
    app.parse(std::vector<std::string>(texts.rbegin(), texts.rend()));  // in reverse order
  } catch (const CLI::CallForHelp&) {
    std::string help = wrapped_help(app.help());
    constexpr std::string_view usage = "[program...]\n";
    if (const std::size_t place = help.find(usage); place != std::string::npos)
      help.replace(place, usage.size(), "[program]\n" + subcommand_usages());
    fmt::print("{}", help);
    return parse_result{std::nullopt, 0};
  } catch (const CLI::ParseError& failure) {
    if (std::string reason = refusal(refused); !reason.empty()) return fail(reason);
    std::string message = failure.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    return fail(message + meant_option(app, texts) + " (gpulog --help lists the options)");
  }
  if (raw.show_version) {
    fmt::print("{}", version_text());
    return parse_result{std::nullopt, 0};
  }
  if (std::find(raw.tuning.begin(), raw.tuning.end(), "help") != raw.tuning.end()) {
    fmt::print("{}", tuning_help());
    return parse_result{std::nullopt, 0};
  }
  if (std::string reason = refusal(refused); !reason.empty()) return fail(reason);
  raw.has_fact_folder = raw.has_fact_folder || fact_folder->count() > 0;
  raw.has_output_folder = raw.has_output_folder || output_folder->count() > 0;
  return std::nullopt;
}

}  // namespace

void warn_of_unknown_warnings(std::string_view option, const std::vector<std::string>& names) {
  std::vector<std::string> known = warning_names();
  known.emplace_back("all");
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    print_remark(severity::warning, fmt::format("{} knows no warning {}{}", option, name, did_you_mean(name, known)));
  }
}

parse_result parse_arguments(int count, char** texts, const std::optional<program_image>& image) {
  raw_arguments raw;
  arguments parsed;
  if (image) {
    if (const auto end = read(image->arguments, false, raw, parsed)) return *end;
    raw.files.clear();
    parsed.executable_file.clear();
    parsed.run.functor_base = image->folder;
  }
  if (const auto end = read({texts + 1, texts + count}, image.has_value(), raw, parsed)) return *end;
  return checked(raw, std::move(parsed), image.has_value());
}

}  // namespace gpulog::cli
