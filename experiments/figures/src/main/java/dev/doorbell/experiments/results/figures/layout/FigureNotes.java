package dev.doorbell.experiments.results.figures.layout;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Provenance;

/**
 * Notes of a figure about itself, whatever its kind.
 *
 * @param name of its files
 * @param basis the basis word with its meaning, such as {@code modelled (virtual time)}
 * @param samples the meaning of a point and its whisker
 */
public record FigureNotes(
    String name, String basis, String samples, Provenance provenance, FigureStyle style) {

  /** The notes of a figure that shows one panel of this one. */
  public FigureNotes ofPanel(String title) {
    return new FigureNotes(
        name + "-" + title,
        basis,
        samples,
        provenance.titled(provenance.title() + ", " + title),
        style);
  }

  /** These with other words about samples. */
  public FigureNotes sampled(String other) {
    return new FigureNotes(name, basis, other, provenance, style);
  }

  /** Name of its files, without the ending. */
  public String file() {
    return Identifier.of(name);
  }
}
