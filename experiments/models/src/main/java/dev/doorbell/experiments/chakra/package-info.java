/**
 * Chakra execution traces of MLCommons: a file of length-delimited protobuf messages for each rank
 * ({@code et_def.proto}), read by field numbers, and what their ranks do together.
 */
@NullMarked
package dev.doorbell.experiments.chakra;

import org.jspecify.annotations.NullMarked;
