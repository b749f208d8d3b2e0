package dev.doorbell.experiments.results.figures.drawing;

import java.util.List;

/**
 * A finished page.
 *
 * @param width points of 1/72 inch
 * @param height points; y grows downwards from 0
 * @param nodes in painting order, on white
 */
public record Drawing(double width, double height, Provenance provenance, List<Node> nodes) {

  public Drawing {
    nodes = List.copyOf(nodes);
  }

  /** The page and all that is on it, scaled by {@code factor}. */
  public Drawing scaled(double factor) {
    return factor == 1
        ? this
        : new Drawing(
            width * factor, height * factor, provenance, new Scaling(factor).nodes(nodes));
  }

  public byte[] svg() {
    return SvgWriter.write(this);
  }

  public byte[] pdf() {
    return PdfWriter.write(this);
  }

  /**
   * Rendered from the PDF, 200 dots an inch.
   *
   * @param pdf the result of {@link #pdf}
   */
  public byte[] png(byte[] pdf) {
    return PngWriter.write(pdf, provenance);
  }
}
