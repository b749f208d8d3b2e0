package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Fill;
import dev.doorbell.experiments.results.figures.drawing.Node.Group;
import dev.doorbell.experiments.results.figures.drawing.Node.Label;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Node.Turn;
import dev.doorbell.experiments.results.figures.drawing.Outline.Segment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.fontbox.ttf.TTFParser;
import org.apache.fontbox.ttf.TrueTypeFont;
import org.apache.pdfbox.io.RandomAccessReadBuffer;
import org.apache.pdfbox.pdfwriter.compress.CompressParameters;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDDocumentInformation;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.common.PDRectangle;
import org.apache.pdfbox.pdmodel.font.PDFont;
import org.apache.pdfbox.pdmodel.font.PDType0Font;
import org.apache.pdfbox.util.Matrix;

/**
 * Writes a drawing as one page of PDF 1.4 with its typeface embedded as a subset, as venues ask.
 * The document's identifier is fixed and there are no dates, so that equal drawings are equal
 * files.
 */
final class PdfWriter {

  private static final int ROUND = 1;
  private static final int BUTT = 0;

  private final PDPageContentStream page;
  private final PDFont font;
  private final double height;

  private PdfWriter(PDPageContentStream page, PDFont font, double height) {
    this.page = page;
    this.font = font;
    this.height = height;
  }

  static byte[] write(Drawing drawing) {
    try (PDDocument document = new PDDocument();
        InputStream file = Typeface.open()) {
      document.setVersion(1.4f);
      document.setDocumentId(0L);
      document.setDocumentInformation(information(drawing.provenance()));
      PDPage sheet = new PDPage(new PDRectangle((float) drawing.width(), (float) drawing.height()));
      document.addPage(sheet);
      PDFont font = PDType0Font.load(document, glyphs(file), true);
      try (PDPageContentStream page = new PDPageContentStream(document, sheet)) {
        page.setLineJoinStyle(ROUND);
        PdfWriter writer = new PdfWriter(page, font, drawing.height());
        writer.nodes(drawing.nodes());
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 16);
      document.save(bytes, CompressParameters.NO_COMPRESSION); // streams are deflated all the same
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Without ligatures: widths are summed glyph by glyph, text is found by those who search for it,
   * and looking for them took half the time of a page.
   */
  private static TrueTypeFont glyphs(InputStream file) throws IOException {
    TrueTypeFont glyphs = new TTFParser().parse(new RandomAccessReadBuffer(file));
    glyphs.setEnableGsub(false);
    return glyphs;
  }

  private static PDDocumentInformation information(Provenance from) {
    PDDocumentInformation information = new PDDocumentInformation();
    information.setTitle(from.title());
    information.setSubject(from.basis());
    information.setCreator("Doorbell");
    information.setCustomMetadataValue("Run", from.run());
    information.setCustomMetadataValue("Config", from.config());
    from.commit().ifPresent(id -> information.setCustomMetadataValue("Commit", id));
    information.setCustomMetadataValue("Basis", from.basis());
    return information;
  }

  private void nodes(List<Node> nodes) throws IOException {
    for (Node node : nodes) {
      node(node);
    }
  }

  private void node(Node node) throws IOException {
    switch (node) {
      case Group group -> nodes(group.nodes());
      case Stroke stroke -> stroke(stroke);
      case Fill fill -> {
        page.setNonStrokingColor(rgb(fill.paint()));
        trace(fill.outline());
        page.fill();
      }
      case Label label -> label(label);
    }
  }

  private void stroke(Stroke stroke) throws IOException {
    page.setStrokingColor(rgb(stroke.paint()));
    page.setLineWidth((float) stroke.width());
    boolean broken = stroke.dash().broken();
    page.setLineCapStyle(broken ? BUTT : ROUND);
    page.setLineDashPattern(
        broken
            ? new float[] {(float) stroke.dash().on(), (float) stroke.dash().off()}
            : new float[0],
        0);
    trace(stroke.outline());
    page.stroke();
  }

  private void label(Label label) throws IOException {
    double width = Typeface.width(label.text(), label.size());
    double back =
        switch (label.anchor()) {
          case START -> 0;
          case MIDDLE -> width / 2;
          case END -> width;
        };
    boolean upwards = label.turn() == Turn.UPWARDS;
    page.beginText();
    page.setFont(font, (float) label.size());
    page.setNonStrokingColor(rgb(label.paint()));
    float x = round(label.x() - (upwards ? 0 : back));
    float y = round(height - label.y() - (upwards ? back : 0));
    page.setTextMatrix(upwards ? new Matrix(0, 1, -1, 0, x, y) : Matrix.getTranslateInstance(x, y));
    page.showText(label.text());
    page.endText();
  }

  private void trace(Outline outline) throws IOException {
    for (Segment segment : outline.segments()) {
      float[] at = new float[segment.places().length];
      for (int i = 0; i < at.length; i++) {
        double place = segment.places()[i];
        at[i] = round(i % 2 == 0 ? place : height - place);
      }
      switch (segment.command()) {
        case 'M' -> page.moveTo(at[0], at[1]);
        case 'L' -> page.lineTo(at[0], at[1]);
        case 'C' -> page.curveTo(at[0], at[1], at[2], at[3], at[4], at[5]);
        default -> page.closePath();
      }
    }
  }

  /** To the hundredth of a point, as in the SVG. */
  private static float round(double value) {
    return Math.round(value * 100) / 100f;
  }

  private static java.awt.Color rgb(Paint paint) {
    return new java.awt.Color(paint.rgb());
  }
}
