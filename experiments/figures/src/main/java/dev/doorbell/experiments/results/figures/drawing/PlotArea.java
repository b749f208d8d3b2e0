package dev.doorbell.experiments.results.figures.drawing;

/** Places of a panel and of values in it on the page. Points, y downwards. */
public record PlotArea(
    double left, double top, double right, double bottom, PlotAxis xAxis, PlotAxis yAxis) {

  public double x(double value) {
    return left + xAxis.scale().at(value) * (right - left);
  }

  public double y(double value) {
    return bottom - yAxis.scale().at(value) * (bottom - top);
  }
}
