// Draws the figures when they come into sight, and anew when their width or the colours change.

document.addEventListener("DOMContentLoaded", () => {
  const kinds = { plot: PlotChart, timeline: TimelineChart, map: MapChart };
  document.querySelectorAll(".data").forEach(enableTable);
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const charts = new Map();
  const draw = (figure) => {
    if (charts.has(figure)) return;
    const data = figures[Number(figure.dataset.figure)];
    const chart = new kinds[data.kind](figure, data);
    charts.set(figure, chart);
    chart.draw();
  };
  const all = [...document.querySelectorAll("figure[data-figure]")];
  const sight = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting) {
        sight.unobserve(entry.target);
        requestAnimationFrame(() => draw(entry.target));  // what is first in sight is seen first
      }
  }, { rootMargin: "400px" });
  all.forEach((figure) => sight.observe(figure));

  let width = window.innerWidth;
  const again = () => charts.forEach((chart) => chart.draw());
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    again();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("beforeprint", () => { all.forEach(draw); again(); });
  window.addEventListener("afterprint", again);
});
