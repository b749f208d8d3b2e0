package dev.doorbell.experiments.results.figures.drawing;

import java.util.Optional;

/**
 * The origin of a figure, written into every file of it.
 *
 * @param run name of the run directory
 * @param config hash of the resolved config
 * @param commit of the checkout that ran it, where known
 * @param basis the basis word, such as {@code modelled}
 */
public record Provenance(
    String title, String run, String config, Optional<String> commit, String basis) {

  /** The same under another title. */
  public Provenance titled(String other) {
    return new Provenance(other, run, config, commit, basis);
  }
}
