/**
 * Papers whose every figure, table and number comes from a run, a closed form or a file by a path
 * that a program walks. Building is a pure function from a paper's folder and its runs to files, so
 * that a check is a comparison of bytes.
 */
@NullMarked
package dev.doorbell.experiments.results.paper;

import org.jspecify.annotations.NullMarked;
