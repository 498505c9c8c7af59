/* empty.c - a dynamic program that does nothing. */
int main(void)
{
	return 0;
}
