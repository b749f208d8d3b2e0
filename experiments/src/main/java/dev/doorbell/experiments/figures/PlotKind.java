package dev.doorbell.experiments.figures;

import java.util.Locale;

/** The kinds of figures. */
public enum PlotKind {
  /** A metric against an axis of numbers, with intervals, crossovers and ceilings. */
  LINE,
  /** Shares of the samples up to a value. */
  CDF,
  /** Medians side by side, with intervals. */
  BAR,
  /** Who is ahead over two axes, and by how much. */
  HEATMAP,
  /** What happens to one message. */
  TIMELINE,
  /** What each constant of the model does to a prediction. */
  TORNADO;

  /** As the command line says it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
