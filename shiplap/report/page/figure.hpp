// Figures of a page: plots, timelines, maps and tables as plain values. The script of the page draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace shiplap::page {

/// An axis of a plot. Values are in base units, and the script chooses prefixes.
struct Axis {
  std::string label{};  ///< "size of the copy"
  /// "s", "B" (with binary prefixes), "B/s" (with decimal prefixes), "1" (a ratio, in per cent), or "" for a number.
  std::string unit{};
  bool logarithmic = false;  ///< how the axis is drawn first; the reader can change it
};

/// A point with its interval.
struct Point {
  double x = 0;
  double y = 0;
  std::optional<double> low{};   ///< low end of the interval of `y`
  std::optional<double> high{};  ///< high end of the interval of `y`
  std::string label{};           ///< further words on the point, shown beside its values
};

/// Points of one kind.
struct Series {
  std::string name{};
  std::vector<Point> points{};
  bool is_line = true;  ///< whether a line joins the points; they are then sorted by `x`
};

/// A horizontal line.
struct Limit {
  std::string name{};
  double y = 0;
};

/// Points and curves over two axes.
struct Plot {
  std::string title{};
  std::string note{};  ///< a sentence below the title
  Axis x{};
  Axis y{};
  std::vector<Series> series{};
  std::vector<Limit> limits{};
  bool has_diagonal = false;  ///< whether the line y = x is drawn
};

/// An op on a timeline.
struct Bar {
  std::string name{};
  double start = 0;      ///< seconds
  double end = 0;        ///< seconds
  std::size_t lane = 0;  ///< lane in the row, from 0 on
  std::uint32_t chunk = 0;
};

/// The bars of one engine.
struct Row {
  std::string label{};
  std::string detail{};  ///< "98 % busy"
  std::size_t lanes = 1;
  std::vector<Bar> bars{};
};

/// One timeline, as in "predicted".
struct Panel {
  std::string label{};
  std::vector<Row> rows{};
};

/// Timelines on one time axis.
struct TimelinePlot {
  std::string title{};
  std::string note{};
  std::vector<Panel> panels{};
};

/// The predicted time of a strategy for one job of a map.
struct MapTime {
  std::size_t strategy = 0;  ///< index into MapPlot::strategies
  std::string choice{};      ///< "32 chunks"
  double time = 0;           ///< seconds
  double low = 0;            ///< low end of the prediction interval
  double high = 0;           ///< high end of the prediction interval
};

/// A job that is marked in a map.
struct Mark {
  std::string name{};
  double x = 0;
  double y = 0;
};

/// The best strategy over two axes, in cells.
struct MapPlot {
  std::string title{};
  std::string note{};
  Axis x{};
  Axis y{};
  std::vector<std::string> strategies{};
  std::vector<double> xs{};                   ///< values of the columns, ascending
  std::vector<double> ys{};                   ///< values of the rows, ascending
  std::vector<std::vector<MapTime>> cells{};  ///< by row, then by column; each with the fastest strategy first
  std::vector<Mark> marks{};
};

/// A cell of a table: what is shown, and the number by which rows are sorted.
struct Cell {
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT: a text is a cell
  Cell(const char* shown) : text(shown) {}             // NOLINT: a text is a cell
  Cell(std::string shown, double number) : text(std::move(shown)), value(number) {}
  std::string text{};
  std::optional<double> value{};
  /// "good", "warn" or "bad" where the cell has a judgement, else "".
  std::string judgement{};
};

/// A table that the reader can sort and copy as CSV.
struct DataTable {
  std::string title{};
  std::string note{};
  std::vector<std::string> columns{};
  /// Unit of `Cell::value` for each column, as of an axis; "" or absent for texts and numbers. CSV has it in the title.
  std::vector<std::string> units{};
  std::vector<std::vector<Cell>> rows{};  ///< each with a cell for every column
};

/// What a section shows.
using Figure = std::variant<Plot, TimelinePlot, MapPlot, DataTable>;

/// The figures of one file, or of several files together.
struct Section {
  std::string title{};
  std::string source{};                  ///< name of the file
  std::vector<std::string> sentences{};  ///< what the figures show
  std::vector<Figure> figures{};
};

/// A sentence on top of the page, with the section that it is about.
struct Headline {
  std::string sentence{};
  std::size_t section = 0;  ///< index into Page::sections
};

/// A word that the page uses, with its meaning.
struct Word {
  std::string word{};
  std::string meaning{};
};

/// A whole page.
struct Page {
  std::string title{};
  std::vector<Headline> summary{};
  std::vector<Section> sections{};
  std::vector<Word> words{};  ///< what readers may not know
};

}  // namespace shiplap::page
