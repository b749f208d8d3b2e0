package dev.doorbell.experiments.results.figures;

/** Where a panel lies on the page, and where a value lies in it. Points, y downwards. */
record Frame(double left, double top, double right, double bottom, PlotAxis xAxis, PlotAxis yAxis) {

  double x(double value) {
    return left + xAxis.scale().at(value) * (right - left);
  }

  double y(double value) {
    return bottom - yAxis.scale().at(value) * (bottom - top);
  }
}
