// What people are shown, as plain values: sections of sentences, tables, plots, timelines and maps. A terminal,
// Markdown and a page render them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/document/table.hpp"

namespace shiplap::document {

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
  bool is_line = true;   ///< whether a line joins the points; they are then sorted by `x`
  std::string thing{};   ///< what the series is of, for its colour (`colour_of`)
  std::string dashes{};  ///< lengths of dashes and gaps in px, as in "6 4"; "": a solid line
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
  std::string thing{};  ///< what the bars are, for their colour (`colour_of`)
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

/// What a section shows.
using Figure = std::variant<Plot, TimelinePlot, MapPlot, Table>;

/// A number of a headline that a page shows large, with what it is: "10.17 ± 0.21 ms", "predicted".
struct KeyNumber {
  std::string value{};  ///< as it stands in the sentence
  std::string label{};
};

/// A sentence that answers.
struct Headline {
  std::string verdict{};  ///< the beginning of the sentence that a page shows on top without the rest; "": all of it
  std::string sentence{};
  Judgement judgement = Judgement::none;  ///< what it says of its subject; its colour on a page
  std::vector<KeyNumber> numbers{};
};

/// What a person is shown of one record, or of several records together.
struct Section {
  std::string title{};
  std::string source{};                  ///< name of the file
  std::vector<Headline> headlines{};     ///< the answer, which also stands on top of a page
  std::vector<std::string> sentences{};  ///< the reasons, and what the figures show
  std::vector<Figure> figures{};
  std::vector<Figure> details{};  ///< further figures, which a terminal shows on request
  std::vector<Figure> brief{};    ///< what a terminal shows instead of `figures` unless more is asked for; may be empty
};

}  // namespace shiplap::document
