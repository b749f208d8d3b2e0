/**
 * The axioms of the PTX ISA's chapter "Memory Consistency Model", evaluated over every candidate
 * execution of a litmus test. Traces of single threads are enumerated first, then combined.
 */
@NullMarked
package dev.doorbell.core.fabric.explore.litmus.axiom;

import org.jspecify.annotations.NullMarked;
