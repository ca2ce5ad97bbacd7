#include "syntax/format/pieces.hpp"

#include <algorithm>
#include <utility>

#include "support/diagnostics.hpp"
#include "syntax/lexer.hpp"
#include "syntax/macros.hpp"
#include "syntax/mapped_text.hpp"
#include "syntax/physical_lines.hpp"

namespace gpulog::syntax {

namespace {

/// A part of a text that the lexer must not read.
struct cut {
  std::size_t begin, end;
  bool is_directive;
};

/// Returns the lines of the preprocessor, and what a backslash at a line end continues.
std::vector<cut> cuts_of(std::string_view text) {
  std::vector<cut> result;
  if (text.find('#') == std::string_view::npos && find_line_splice(text) == std::string_view::npos) return result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = skip_line_space(text, at);
    if (first < text.size() && text[first] == '#') {
      at = end_of_directive(text, first);
      result.push_back({first, at, true});
      continue;
    }
    for (bool ends = false; at < text.size() && !ends;) {
      const std::size_t begin = at;
      const std::size_t comment_end = end_of_comment(text, at);
      const std::size_t splice = line_splice(text, at);
      if (comment_end > at || splice > 0) {
        at = std::max(comment_end, at + splice);
        if (find_line_splice(text.substr(begin, at - begin)) != std::string_view::npos)
          result.push_back({begin, at, false});
      } else {
        ends = text[at] == '\n';
        at = ends ? at + 1 : end_of_macro_token(text, at);
      }
    }
  }
  return result;
}

mapped_text without(const source_file& file, const std::vector<cut>& cuts) {
  if (cuts.empty()) return mapped_text(file);
  mapped_text result;
  std::size_t at = 0;
  const auto copy_up_to = [&](std::size_t end) {
    result.append_verbatim(file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end));
  };
  for (const cut& each : cuts) {
    copy_up_to(each.begin);
    at = each.end;
  }
  copy_up_to(file.text().size());
  return result;
}

/// Reads the comments between tokens.
class gap_reader {
 public:
  gap_reader(format_pieces& out, std::vector<cut> cuts) : out_(out), cuts_(std::move(cuts)) {}

  /// Reads the comments in [at, end) into the token that follows.
  void read(std::size_t at, std::size_t end, format_token& next) {
    const std::string_view text = out_.text;
    next.comments_begin = static_cast<std::uint32_t>(out_.comments.size());
    std::uint32_t lines = 0;
    while (at < end) {
      if (is_line_space(text[at]) || text[at] == '\n' || line_splice(text, at) > 0) {
        if (text[at] == '\n' && !is_spliced(at)) ++lines;
        ++at;
        continue;
      }
      next.is_on_new_line = next.is_on_new_line || lines > 0;
      at = read_comment(at, end, lines);
      next.is_on_new_line = next.is_on_new_line || out_.comments.back().has_several_lines;
      lines = 0;
    }
    next.is_on_new_line = next.is_on_new_line || lines > 0;
    next.lines_before = static_cast<std::uint8_t>(std::min(lines, 2U));
    next.comments_end = static_cast<std::uint32_t>(out_.comments.size());
  }

 private:
  [[nodiscard]] bool is_spliced(std::size_t line_end) const {
    const std::string_view before = out_.text.substr(0, line_end);
    return before.ends_with('\\') || before.ends_with("\\\r");
  }

  std::size_t read_comment(std::size_t at, std::size_t gap_end, std::uint32_t lines) {
    const std::string_view text = out_.text;
    format_comment made;
    made.begin = at;
    made.lines_before = lines;
    std::size_t end = std::min(end_of_comment(text, at), gap_end);
    if (end > at) {
      made.what = text.substr(at).starts_with("/*") ? format_comment::kind::block : format_comment::kind::line;
    } else {
      while (next_cut_ < cuts_.size() && (cuts_[next_cut_].begin < at || !cuts_[next_cut_].is_directive)) ++next_cut_;
      const bool is_directive = next_cut_ < cuts_.size() && cuts_[next_cut_].begin == at;
      // Unknown text stays where it is, like a directive.
      const bool is_ignored = text[at] == '#' && !is_directive;
      made.what = is_ignored ? format_comment::kind::line : format_comment::kind::directive;
      end = is_directive ? cuts_[next_cut_].end : std::min(text.find('\n', at), gap_end);
    }
    made.end = end;
    while (made.end > at && is_line_space(text[made.end - 1])) --made.end;
    // Without a blank after the backslash, the backslash would continue the line.
    if (made.end < end && text[made.end - 1] == '\\' && text[made.end] != '\r') ++made.end;
    made.has_several_lines = text.substr(at, made.end - at).find('\n') != std::string_view::npos;
    out_.comments.push_back(made);
    return end;
  }

  format_pieces& out_;
  std::vector<cut> cuts_;
  std::size_t next_cut_ = 0;
};

/// Moves comments before commas and dots to the next token: `a(x) // text`, `, b(x)`.
void move_comments_after_separators(format_pieces& pieces) {
  for (std::size_t number = 0; number + 1 < pieces.tokens.size(); ++number) {
    format_token& token = pieces.tokens[number];
    if (token.kind != token_kind::comma && token.kind != token_kind::dot) continue;
    if (pieces.has_directive(token)) continue;
    pieces.tokens[number + 1].comments_begin = token.comments_begin;
    token.comments_end = token.comments_begin;
  }
}

std::vector<token_place> split_into_tokens(const mapped_text& text) {
  std::vector<token_place> result;
  result.reserve(text.text().size() / fewest_bytes_per_token + 1);
  diagnostics ignored;
  lexer tokens(text, ignored, nullptr, {});
  do {
    const token next = tokens.next();
    result.push_back({next.kind, next.span.begin, next.span.end});
  } while (result.back().kind != token_kind::end_of_file);
  return result;
}

format_pieces pieces_with_cuts(const source_file& file, const std::vector<token_place>& tokens, std::vector<cut> cuts) {
  format_pieces result;
  result.text = file.text();
  result.tokens.reserve(tokens.size());
  const bool has_cuts = !cuts.empty();
  gap_reader gaps(result, std::move(cuts));
  std::size_t at = result.text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  for (const token_place& token : tokens) {
    if (token.kind == token_kind::doc_comment) continue;
    format_token& made = result.tokens.emplace_back();
    made.kind = token.kind;
    const bool is_end = token.kind == token_kind::end_of_file;
    made.begin = is_end ? static_cast<std::uint32_t>(result.text.size()) : token.begin;
    made.end = is_end ? made.begin : token.end;
    made.columns = made.end - made.begin;
    // Other tokens are ASCII text on one line.
    if (has_cuts || token.kind == token_kind::string || token.kind == token_kind::invalid) {
      const std::string_view spelling = result.text_of(made);
      made.columns = static_cast<std::uint32_t>(columns_of(spelling));
      made.has_several_lines = spelling.find('\n') != std::string_view::npos;
    }
    gaps.read(at, made.begin, made);
    at = made.end;
  }
  move_comments_after_separators(result);
  return result;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

format_pieces pieces_of(const source_file& file) {
  std::vector<cut> cuts = cuts_of(file.text());
  const std::vector<token_place> tokens = split_into_tokens(without(file, cuts));
  return pieces_with_cuts(file, tokens, std::move(cuts));
}

format_pieces pieces_of(const source_file& file, const std::vector<token_place>& tokens) {
  return pieces_with_cuts(file, tokens, {});
}

}  // namespace gpulog::syntax
