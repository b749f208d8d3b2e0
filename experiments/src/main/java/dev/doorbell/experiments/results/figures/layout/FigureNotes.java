package dev.doorbell.experiments.results.figures.layout;

import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Provenance;

/**
 * What a figure says about itself, whatever its kind.
 *
 * @param name of its files
 * @param basis the basis word with its meaning, such as {@code modelled (virtual time)}
 * @param samples what a point and its whisker are
 * @param provenance its title, run and config
 */
public record FigureNotes(String name, String basis, String samples, Provenance provenance) {

  /** The notes of a figure that shows one panel of this one. */
  public FigureNotes ofPanel(String title) {
    return new FigureNotes(
        name + "-" + title, basis, samples, provenance.titled(provenance.title() + ", " + title));
  }

  /** The name of a file with {@code suffix}. */
  public String file(String suffix) {
    return Identifier.of(name) + suffix;
  }
}
