#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "syntax/hint_texts.hpp"
#include "syntax/hints.hpp"

namespace gpulog::syntax {

namespace {

struct named_character {
  std::string_view bytes;
  std::string_view name;
  std::string_view ours;  ///< empty: nothing in its place
};

/// Characters that look like those of the language, or like none.
constexpr named_character look_alikes[] = {
    {"\xE2\x80\x90", "hyphen", "-"},
    {"\xE2\x80\x91", "non-breaking hyphen", "-"},
    {"\xE2\x80\x92", "figure dash", "-"},
    {"\xE2\x80\x93", "en dash", "-"},
    {"\xE2\x80\x94", "em dash", "-"},
    {"\xE2\x88\x92", "minus sign", "-"},
    {"\xC3\x97", "multiplication sign", "*"},
    {"\xC3\xB7", "division sign", "/"},
    {"\xEF\xBC\x88", "fullwidth parenthesis", "("},
    {"\xEF\xBC\x89", "fullwidth parenthesis", ")"},
    {"\xEF\xBC\x8C", "fullwidth comma", ","},
    {"\xEF\xBC\x8E", "fullwidth full stop", "."},
    {"\xEF\xBC\x9A", "fullwidth colon", ":"},
    {"\xEF\xBC\x9B", "fullwidth semicolon", ";"},
    {"\xEF\xBC\x9D", "fullwidth equals sign", "="},
    {"\xE3\x80\x82", "ideographic full stop", "."},
    {"\xC2\xA0", "no-break space", ""},
    {"\xC2\xAD", "soft hyphen", ""},
    {"\xE2\x80\x8B", "zero width space", ""},
    {"\xE2\x80\x8C", "zero width non-joiner", ""},
    {"\xE2\x80\x8D", "zero width joiner", ""},
    {"\xE2\x80\xAF", "narrow no-break space", ""},
    {"\xE3\x80\x80", "ideographic space", ""},
    {"\xEF\xBB\xBF", "byte order mark", ""},
};

struct foreign_spelling {
  std::string_view text, hint;
};

constexpr foreign_spelling foreign_spellings[] = {
    {"&", conjunction_hint},
    {"'", symbol_form},
    {"`", symbol_form},
    {"\\=", inequality_hint},
    {"\\+", negation_hint},
    {"\\/", disjunction_hint},
    {"~", negation_hint},
    {"\xC2\xAC", negation_hint},
    {"\xE2\x88\xA7", conjunction_hint},
    {"\xE2\x88\xA8", disjunction_hint},
    {"\xE2\x89\xA0", inequality_hint},
    {"\xE2\x89\xA4", less_hint},
    {"\xE2\x89\xA5", greater_hint},
    {"\xE2\x86\x90", rule_form},
    {"\xE2\x80\x9C", symbol_form},
    {"\xE2\x80\x9D", symbol_form},
    {"\xE2\x80\x98", symbol_form},
    {"\xE2\x80\x99", symbol_form},
    {"\"", "The quote is not closed: a symbol ends with \""},
};

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The number of the UTF-8 character that these bytes are; nothing where they are none.
std::optional<std::uint32_t> code_point(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first < 0x80) return first;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() != length) return std::nullopt;
  std::uint32_t value = first & (0x7FU >> length);
  for (const char next : bytes.substr(1)) value = value << 6U | (static_cast<unsigned char>(next) & 0x3FU);
  return value;
}

/// "U+2212", or "byte 0xFF" where there is no character.
std::string character_number(std::string_view bytes) {
  const auto value = code_point(bytes);
  std::array<char, 16> text{};
  const int length = value ? std::snprintf(text.data(), text.size(), "U+%04X", *value)
                           : std::snprintf(text.data(), text.size(), "byte 0x%02X",
                                           static_cast<unsigned>(static_cast<unsigned char>(bytes.front())));
  return {text.data(), static_cast<std::size_t>(length)};
}

bool is_control(std::string_view bytes) {
  return bytes.size() == 1 && (static_cast<unsigned char>(bytes.front()) < 0x20 || bytes.front() == 0x7F);
}

std::string hint_about_character(std::string_view bytes) {
  const std::string number = character_number(bytes);
  for (const named_character& one : look_alikes) {
    if (bytes != one.bytes) continue;
    const std::string known = "This is " + number + " (" + std::string(one.name) + "): ";
    return one.ours.empty() ? known + "delete it or write a blank" : known + "write " + std::string(one.ours);
  }
  if (is_control(bytes)) return "This is a control character: delete it";
  if (!code_point(bytes)) return "The program is read as UTF-8, and this byte is no character";
  if (bytes.size() > 1) return "This is " + number + ": outside of symbols and comments all characters are ASCII";
  return {};
}

}  // namespace

std::string hint_about_text(std::string_view rest) {
  for (const foreign_spelling& one : foreign_spellings) {
    if (rest.starts_with(one.text)) return std::string(one.hint);
  }
  return hint_about_character(rest.substr(0, length_of_unknown(rest)));
}

std::size_t length_of_unknown(std::string_view rest) {
  const auto first = static_cast<unsigned char>(rest.front());
  if (first >= 0x80) {
    std::size_t length = 1;
    while (length < 4 && length < rest.size() && continues_character(rest[length])) ++length;
    return length;
  }
  if (rest.starts_with("&&") || rest.starts_with("\\=") || rest.starts_with("\\+") || rest.starts_with("\\/")) return 2;
  if (first != '\'') return 1;
  // A text in single quotes, if it is closed on its line.
  const std::size_t end = rest.find_first_of("'\n", 1);
  return end != std::string_view::npos && rest[end] == '\'' ? end + 1 : 1;
}

std::string visible_text(std::string_view unknown) {
  if (is_control(unknown) || !code_point(unknown)) return character_number(unknown);
  // Of ASCII the first byte, as Soufflé says; of other text the whole character.
  return std::string(static_cast<unsigned char>(unknown.front()) < 0x80 ? unknown.substr(0, 1) : unknown);
}

}  // namespace gpulog::syntax
