#include "shiplap/document/text.hpp"

#include <fmt/format.h>

namespace shiplap::document {
namespace {

/// The tables to print.
std::vector<const Table*> tables_of(const Section& section, Detail detail, bool may_be_brief) {
  std::vector<const Table*> tables;
  const auto add = [&](const std::vector<Figure>& figures) {
    for (const Figure& figure : figures)
      if (const auto* table = std::get_if<Table>(&figure); table != nullptr && !table->empty()) tables.push_back(table);
  };
  add(may_be_brief && detail == Detail::figures && !section.brief.empty() ? section.brief : section.figures);
  if (detail == Detail::all) add(section.details);
  return tables;
}

}  // namespace

std::string text(const Section& section, const TextStyle& style, Detail detail) {
  std::string out = section.headlines.empty() ? bold(section.title, style) + "\n" : "";
  for (const Headline& headline : section.headlines) out += bold_lines(wrap(headline.sentence, style.width), style);
  for (const std::string& sentence : section.sentences) out += wrap(sentence, style.width) + "\n";
  for (const Table* table : tables_of(section, detail, true)) {
    out += "\n";
    out += bold_lines(wrap(table->title, style.width), style);
    out += table->text(style, "  ");
    for (const std::string& note : table->notes) out += "  " + wrap(note, style.width - 2, "  ") + "\n";
  }
  return out;
}

std::string markdown(const Section& section, Detail detail) {
  std::string out = "# " + section.title + "\n";
  for (const Headline& headline : section.headlines) out += "\n" + headline.sentence + "\n";
  for (const std::string& sentence : section.sentences) out += "\n" + sentence + "\n";
  for (const Table* table : tables_of(section, detail, false)) {
    if (!table->title.empty()) out += "\n## " + table->title + "\n";
    out += "\n" + table->markdown();
    for (const std::string& note : table->notes) out += "\n" + note + "\n";
  }
  return out;
}

}  // namespace shiplap::document
