package dev.doorbell.experiments.results.figures.drawing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Turn;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.pdfbox.Loader;
import org.apache.pdfbox.cos.COSName;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.font.PDFont;
import org.apache.pdfbox.text.PDFTextStripper;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

class DrawingTest {

  private static final Drawing TINY =
      new Drawing(
          72,
          36,
          new Provenance(
              "a <tiny> & plain one", "run-1", "c0ffee", Optional.of("0123abc"), "modelled"),
          List.of(
              new Node.Fill(Outline.rectangle(0, 30, 72, 6), new Paint(0xDFE3E8)),
              new Node.Group(
                  "line",
                  List.of(
                      new Node.Stroke(
                          Outline.line(1, 2.345, 30.5, -0.001),
                          new Paint(0x0072B2),
                          1.15,
                          Dash.NONE),
                      new Node.Stroke(
                          Outline.circle(50, 10, 5), Paint.BLACK, 0.5, new Dash(3, 2)))),
              new Node.Label("8 B < 1 µs", 36, 20, 7, Anchor.MIDDLE, Paint.BLACK),
              new Node.Label("up", 10, 30, 6.5, Anchor.END, Turn.UPWARDS, Paint.BLACK)));

  @Test
  void the_svg_of_a_tiny_drawing_is_this() {
    assertThat(new String(TINY.svg(), StandardCharsets.UTF_8))
        .isEqualTo(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt" viewBox="0 0 72 36" role="img" font-family="'Liberation Sans', Arial, Helvetica, sans-serif" font-kerning="none">
              <title>a &lt;tiny&gt; &amp; plain one</title>
              <metadata>
                <figure xmlns="urn:doorbell:figure" run="run-1" config="c0ffee" commit="0123abc" basis="modelled"/>
              </metadata>
              <path d="M0 0H72V36H0Z" fill="#ffffff"/>
              <path d="M0 30L72 30L72 36L0 36Z" fill="#dfe3e8"/>
              <g id="line">
                <path d="M1 2.35L30.5 0" fill="none" stroke="#0072b2" stroke-width="1.15" stroke-linecap="round" stroke-linejoin="round"/>
                <path d="M55 10C55 12.76 52.76 15 50 15C47.24 15 45 12.76 45 10C45 7.24 47.24 5 50 5C52.76 5 55 7.24 55 10Z" fill="none" stroke="#000000" stroke-width="0.5" stroke-dasharray="3 2" stroke-linejoin="round"/>
              </g>
              <text x="36" y="20" font-size="7" text-anchor="middle" fill="#000000">8 B &lt; 1 µs</text>
              <text x="10" y="30" font-size="6.5" text-anchor="end" transform="rotate(-90 10 30)" fill="#000000">up</text>
            </svg>
            """);
  }

  @Test
  void a_long_label_keeps_its_width_in_any_typeface() {
    Drawing drawing =
        new Drawing(
            200,
            36,
            TINY.provenance(),
            List.of(
                new Node.Label("a footer of some length", 36, 20, 7, Anchor.START, Paint.BLACK)));
    assertThat(new String(drawing.svg(), StandardCharsets.UTF_8))
        .containsPattern(
            "textLength=\"%s\" lengthAdjust=\"spacingAndGlyphs\""
                .formatted(
                    SvgWriter.number(Typeface.width("a footer of some length", 7))
                        .replace(".", "\\.")));
  }

  @Test
  void the_svg_is_well_formed() throws Exception {
    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(TINY.svg()));
    assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
    assertThat(document.getElementsByTagName("text").item(0).getTextContent())
        .isEqualTo("8 B < 1 µs");
  }

  @Test
  void every_format_has_the_same_bytes_when_rebuilt() {
    byte[] pdf = TINY.pdf();
    assertThat(TINY.svg()).isEqualTo(TINY.svg());
    assertThat(pdf).isEqualTo(TINY.pdf());
    assertThat(TINY.png(pdf)).isEqualTo(TINY.png(TINY.pdf()));
  }

  @Test
  void the_pdf_embeds_a_subset_of_its_only_font_and_its_text_can_be_searched() throws IOException {
    try (PDDocument document = Loader.loadPDF(TINY.pdf())) {
      assertThat(document.getNumberOfPages()).isEqualTo(1);
      assertThat(document.getPage(0).getMediaBox().getWidth()).isEqualTo(72);
      assertThat(document.getPage(0).getMediaBox().getHeight()).isEqualTo(36);
      int fonts = 0;
      for (COSName name : document.getPage(0).getResources().getFontNames()) {
        PDFont font = document.getPage(0).getResources().getFont(name);
        assertThat(font.isEmbedded()).as(font.getName()).isTrue();
        assertThat(font.getName()).matches("[A-Z]{6}\\+LiberationSans");
        fonts++;
      }
      assertThat(fonts).isEqualTo(1);
      assertThat(new PDFTextStripper().getText(document)).contains("8 B < 1 µs", "up");
    }
  }

  @Test
  void the_pdf_says_where_it_comes_from_and_not_when() throws IOException {
    byte[] pdf = TINY.pdf();
    try (PDDocument document = Loader.loadPDF(pdf)) {
      var information = document.getDocumentInformation();
      assertThat(information.getTitle()).isEqualTo("a <tiny> & plain one");
      assertThat(information.getCustomMetadataValue("Run")).isEqualTo("run-1");
      assertThat(information.getCustomMetadataValue("Config")).isEqualTo("c0ffee");
      assertThat(information.getCustomMetadataValue("Commit")).isEqualTo("0123abc");
      assertThat(information.getCustomMetadataValue("Basis")).isEqualTo("modelled");
      assertThat(information.getCreationDate()).isNull();
      assertThat(information.getModificationDate()).isNull();
    }
    assertThat(new String(pdf, StandardCharsets.ISO_8859_1)).startsWith("%PDF-1.4");
  }

  @Test
  void the_png_has_200_dots_an_inch_and_shows_the_drawing() throws IOException {
    byte[] png = TINY.png(TINY.pdf());
    BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
    assertThat(image.getWidth()).isEqualTo(200);
    assertThat(image.getHeight()).isEqualTo(100);
    assertThat(image.getRGB(199, 0)).as("paper").isEqualTo(0xFFFFFFFF);
    assertThat(image.getRGB(100, 92)).as("the filled strip").isEqualTo(0xFFDFE3E8);
    assertThat(darkPixels(image)).as("glyphs and lines").isBetween(150, 3000);
    assertThat(new String(png, StandardCharsets.ISO_8859_1)).contains("pHYs", "Basis", "modelled");
  }

  private static int darkPixels(BufferedImage image) {
    int dark = 0;
    for (int y = 0; y < image.getHeight(); y++) {
      for (int x = 0; x < image.getWidth(); x++) {
        dark += (image.getRGB(x, y) & 0xFF) < 0x60 ? 1 : 0;
      }
    }
    return dark;
  }

  @Test
  void other_provenance_is_another_file() {
    Drawing other =
        new Drawing(TINY.width(), TINY.height(), TINY.provenance().titled("another"), TINY.nodes());
    assertThat(other.pdf()).isNotEqualTo(TINY.pdf());
    assertThat(other.svg()).isNotEqualTo(TINY.svg());
    assertThat(other.png(other.pdf())).isNotEqualTo(TINY.png(TINY.pdf()));
  }

  /**
   * Advance widths of Arial and Helvetica, in thousandths: digits and "B" 556 and 667, space 278.
   */
  @Test
  void text_is_as_wide_as_in_arial() {
    assertThat(Typeface.width("64 B", 1000)).isCloseTo(2 * 556 + 278 + 667, within(1.5));
    assertThat(Typeface.capHeight(1000)).isBetween(680.0, 735.0);
  }

  @Test
  void what_the_typeface_lacks_is_shown_as_a_question_mark() {
    Node.Label label =
        new Node.Label("ok \u4E2D \uD83D\uDE00 µ", 0, 0, 7, Anchor.START, Paint.BLACK);
    assertThat(label.text()).isEqualTo("ok ? ? µ");
  }

  @Test
  void coordinates_are_short() {
    assertThat(SvgWriter.number(12)).isEqualTo("12");
    assertThat(SvgWriter.number(0.1)).isEqualTo("0.1");
    assertThat(SvgWriter.number(-0.05)).isEqualTo("-0.05");
    assertThat(SvgWriter.number(-0.001)).isEqualTo("0");
    assertThat(SvgWriter.number(3.14159)).isEqualTo("3.14");
    assertThat(SvgWriter.number(-2.999)).isEqualTo("-3");
  }
}
