#include "syntax/token_stream.hpp"

#include <algorithm>
#include <filesystem>

#include "support/error.hpp"
#include "syntax/preprocessor.hpp"

namespace gpulog::syntax {

namespace {

/// Files that include further files several times can grow exponentially.
constexpr std::size_t max_included_bytes = std::size_t{1} << 30;

}  // namespace

std::string find_include(const std::string& name, const source_file& including, const source_manager& sources,
                         const std::vector<std::string>& directories) {
  const auto usable = [&sources](const std::filesystem::path& path) { return sources.has_file(path.string()); };
  if (name.find('\0') != std::string::npos) return {};
  const std::filesystem::path wanted(name);
  if (wanted.is_absolute()) return usable(wanted) ? name : std::string();
  const std::filesystem::path beside = std::filesystem::path(including.path()).parent_path() / wanted;
  if (usable(beside)) return beside.string();
  for (const std::string& directory : directories) {
    const std::filesystem::path candidate = std::filesystem::path(directory) / wanted;
    if (usable(candidate)) return candidate.string();
  }
  return {};
}

token_stream::token_stream(source_file& main_file, source_manager& sources, diagnostics& report,
                           const parse_options& options)
    : sources_(sources), report_(report), options_(options) {
  enter_main(main_file);
}

void token_stream::enter_main(source_file& file) {
  const bool process = options_.preprocess && needs_preprocessing(file, options_);
  auto text =
      std::make_unique<mapped_text>(process ? preprocess(file, sources_, report_, options_) : mapped_text(file));
  push_level(file, std::move(text), process ? nullptr : &file);
}

void token_stream::push_level(source_file& file, std::unique_ptr<mapped_text> text, source_file* raw_file) {
  const mapped_text& stable = *text;
  levels_.push_back(
      {&file, std::move(text), lexer(stable, report_, raw_file, {&texts_, options_.warnings, !options_.isolated})});
}

void token_stream::enter_included(const token& directive, const token& name) {
  const source_span where = join(directive.span, name.span);
  const std::string path = options_.allow_include ? find_include(std::string(name.text), *directive.span.file, sources_,
                                                                 options_.include_directories)
                                                  : "";
  if (path.empty()) {
    report_.error(name.span, "cannot find include file \"" + std::string(name.text) + "\"");
    return;
  }
  const std::string identity = sources_.identity(path);
  const bool under_way = std::any_of(levels_.begin(), levels_.end(), [&](const level& entered) {
    return sources_.identity(entered.file->path()) == identity;
  });
  if (under_way && !entered_once_.contains(identity)) {
    report_.error(where, "include cycle: file \"" + std::string(name.text) + "\" includes itself");
    return;
  }
  if (levels_.size() >= max_include_depth) {
    report_.error(where, "files include each other more than " + std::to_string(max_include_depth) + " deep");
    return;
  }
  try {
    source_file& file = sources_.load(path, directive.span);
    included_bytes_ += file.text().size();
    if (included_bytes_ > max_included_bytes) {
      report_.error(where, "included files have more than 1 GiB in all");
      return;
    }
    auto text = std::make_unique<mapped_text>(file);
    push_level(file, std::move(text), &file);
  } catch (const user_error&) {
    report_.error(where, "cannot read file " + path);
  }
}

token token_stream::lex() {
  token result = levels_.back().tokens.next();
  if (options_.tokens != nullptr) options_.tokens->push_back({result.kind, result.span.begin, result.span.end});
  return result;
}

token token_stream::produce() {
  while (true) {
    token result = lex();
    switch (result.kind) {
      case token_kind::end_of_file:
        if (levels_.size() == 1) return result;
        levels_.pop_back();
        result.kind = token_kind::include_ends;
        return result;
      case token_kind::directive_once:
        if (!entered_once_.insert(sources_.identity(levels_.back().file->path())).second && levels_.size() > 1) {
          levels_.pop_back();
        }
        break;
      case token_kind::directive_include: {
        token name = lex();
        if (name.kind != token_kind::string) {
          if (name.kind != token_kind::invalid) {
            report_.error(name.span, "syntax error, unexpected " + std::string(readable_name(name.kind)) +
                                         ", expecting the name of a file after .include");
            name.text = {};
          }
          name.kind = token_kind::invalid;
          return name;
        }
        if (options_.isolated) break;
        enter_included(result, name);
        result.kind = token_kind::include_begins;
        return result;
      }
      default:
        return result;
    }
  }
}

const token& token_stream::peek() {
  while (ahead_.empty() || is_aside(ahead_.back().kind)) ahead_.push_back(produce());
  return ahead_.back();
}

token token_stream::take() {
  asides_.clear();
  while (true) {
    token result = ahead_.empty() ? produce() : std::move(ahead_.front());
    if (!ahead_.empty()) ahead_.pop_front();
    if (!is_aside(result.kind)) return result;
    asides_.push_back(std::move(result));
  }
}

}  // namespace gpulog::syntax
