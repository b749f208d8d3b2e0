/** Reports of a diagnosis: text for a terminal, JSON for programs and for another host's doctor. */
@NullMarked
package dev.doorbell.doctor.report;

import org.jspecify.annotations.NullMarked;
