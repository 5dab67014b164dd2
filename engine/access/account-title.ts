/**
 * The form in which titles of service accounts are compared: two titles that differ in case alone, or in the composition
 * of their characters (Unicode NFC), are one.
 */
export function comparedTitle(title: string): string {
  return title.toLowerCase().normalize('NFC')
}
