package dev.doorbell.experiments.results.figures.drawing;

import java.util.Locale;

/** Identifiers in SVGs, names of files, and names of columns. */
public final class Identifier {
  private Identifier() {}

  /** The text in lower-case letters, digits and hyphens. */
  public static String of(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
  }

  /** End of identifiers of nodes in a panel; empty in a panel without a title. */
  public static String within(String panelTitle) {
    return panelTitle.isEmpty() ? "" : "-" + of(panelTitle);
  }
}
