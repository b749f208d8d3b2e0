package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.experiments.scenario.moe.ExpertSettings.Payload;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** A rank's tokens, and what dispatch and combine have to make of them. */
final class TokenData {
  private final ExpertBatch of;
  private final int rank;
  private final int[] chosen;
  private final float[] weights;
  private final byte[] input;

  TokenData(ExpertBatch of, int rank, int[] chosen) {
    this.of = of;
    this.rank = rank;
    this.chosen = chosen;
    SplittableRandom random = new SplittableRandom(of.seed() * 31 + rank);
    this.input = new byte[of.tokens() * of.tokenBytes()];
    if (of.payload() == Payload.BYTES) {
      random.nextBytes(input);
    } else {
      ByteBuffer to = little(input);
      while (to.hasRemaining()) {
        to.putShort(Quantiser.toBfloat((float) random.nextGaussian()));
      }
    }
    this.weights = new float[chosen.length];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = (float) random.nextDouble();
    }
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  byte[] input() {
    return input;
  }

  byte[] routing() {
    byte[] bytes = new byte[chosen.length * Integer.BYTES];
    little(bytes).asIntBuffer().put(chosen);
    return bytes;
  }

  byte[] weights() {
    byte[] bytes = new byte[weights.length * Float.BYTES];
    little(bytes).asFloatBuffer().put(weights);
    return bytes;
  }

  private short[] elements(int token) {
    short[] elements = new short[of.hidden()];
    little(input)
        .position(token * of.tokenBytes())
        .slice()
        .order(ByteOrder.LITTLE_ENDIAN)
        .asShortBuffer()
        .get(elements);
    return elements;
  }

  byte[] message(int token) {
    byte[] bytes = new byte[of.messageBytes()];
    ByteBuffer to = little(bytes);
    to.putInt(token).putInt(rank);
    for (int k = 0; k < of.topk(); k++) {
      to.putInt(chosen[token * of.topk() + k]);
    }
    to.position(ExpertBatch.HEADER);
    if (of.payload() != Payload.FP8) {
      to.put(input, token * of.tokenBytes(), of.tokenBytes());
      return bytes;
    }
    short[] elements = elements(token);
    ByteBuffer scales = to.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    scales.position(ExpertBatch.HEADER + of.hidden());
    for (int group = 0; group < of.hidden(); group += Quantiser.GROUP) {
      float scale = Quantiser.scale(elements, group);
      scales.putFloat(scale);
      for (int i = 0; i < Quantiser.GROUP; i++) {
        to.put(Quantiser.toFp8(Quantiser.fromBfloat(elements[group + i]) / scale));
      }
    }
    return bytes;
  }

  /** An expert's answer to a token: the token as it has arrived there. */
  byte[] answer(int token) {
    byte[] bytes = new byte[of.tokenBytes()];
    if (of.payload() != Payload.FP8) {
      System.arraycopy(input, token * of.tokenBytes(), bytes, 0, bytes.length);
      return bytes;
    }
    short[] elements = elements(token);
    ByteBuffer to = little(bytes);
    for (int group = 0; group < of.hidden(); group += Quantiser.GROUP) {
      float scale = Quantiser.scale(elements, group);
      for (int i = group; i < group + Quantiser.GROUP; i++) {
        byte sent = Quantiser.toFp8(Quantiser.fromBfloat(elements[i]) / scale);
        to.putShort(Quantiser.toBfloat(Quantiser.fromFp8(sent) * scale));
      }
    }
    return bytes;
  }

  /** The sum over the experts of a token, each of which returned {@code answer}. */
  byte[] output(int token, byte[] answer) {
    byte[] bytes = new byte[of.tokenBytes()];
    ByteBuffer from = little(answer);
    ByteBuffer to = little(bytes);
    while (to.hasRemaining()) {
      float element = Quantiser.fromBfloat(from.getShort());
      float sum = 0;
      for (int k = 0; k < of.topk(); k++) {
        sum = Math.fma(weights[token * of.topk() + k], element, sum);
      }
      to.putShort(Quantiser.toBfloat(sum));
    }
    return bytes;
  }
}
