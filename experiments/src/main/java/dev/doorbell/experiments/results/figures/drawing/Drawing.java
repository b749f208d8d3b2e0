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

  public byte[] svg() {
    return SvgWriter.write(this);
  }

  public byte[] pdf() {
    return PdfWriter.write(this);
  }

  /**
   * 200 dots an inch, rendered from the PDF.
   *
   * @param pdf what {@link #pdf} gave
   */
  public byte[] png(byte[] pdf) {
    return PngWriter.write(pdf, provenance);
  }
}
