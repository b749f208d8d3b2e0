package dev.doorbell.experiments.results.figures.drawing;

import java.util.List;

/**
 * A scale with the places on it that are marked.
 *
 * @param title what it shows, with its unit where the ticks do not say it
 */
public record PlotAxis(String title, Scale scale, List<Tick> ticks) {

  /**
   * One mark.
   *
   * @param label empty for a mark without one
   * @param major whether a rule is drawn across the panel
   */
  public record Tick(double value, String label, boolean major) {}
}
