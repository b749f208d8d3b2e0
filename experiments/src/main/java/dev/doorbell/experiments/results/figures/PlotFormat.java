package dev.doorbell.experiments.results.figures;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What a figure may be written as. */
public enum PlotFormat {
  SVG,
  /** With embedded fonts. */
  PDF,
  PNG,
  /** A {@code .tex} for pgfplots and the {@code .csv} that it reads. */
  PGFPLOTS;

  /** What is written where nothing else is asked for: pixels take longer to draw than all else. */
  public static Set<PlotFormat> standard() {
    return EnumSet.of(SVG, PDF);
  }

  /** As the command line says it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
