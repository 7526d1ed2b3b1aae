package catalog

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
)

// The hashing algorithms of password hashes, by the names definition files have for them. Hashes made here are
// SHA-256; the others come with imports.
const (
	HashSHA256 = "rabbit_password_hashing_sha256"
	HashSHA512 = "rabbit_password_hashing_sha512"
	HashMD5    = "rabbit_password_hashing_md5"
)

const saltBytes = 4

// HashPassword returns base64(salt ‖ SHA-256(salt ‖ password)), the hash RabbitMQ stores and exports.
func HashPassword(salt [saltBytes]byte, password string) string {
	return base64.StdEncoding.EncodeToString(append(salt[:], digest(HashSHA256, salt[:], password)...))
}

// Verify reports whether the password is the user's, in time that does not depend on how wrong it is.
func (u *User) Verify(password string) bool {
	stored, err := base64.StdEncoding.DecodeString(u.PasswordHash)
	if err != nil || len(stored) <= saltBytes {
		return false
	}
	sum := digest(u.Hashing, stored[:saltBytes], password)
	return sum != nil && subtle.ConstantTimeCompare(sum, stored[saltBytes:]) == 1
}

// digest returns nil for an algorithm that is not known.
func digest(hashing string, salt []byte, password string) []byte {
	salted := append(salt[:len(salt):len(salt)], password...)
	switch hashing {
	case HashSHA256, "":
		sum := sha256.Sum256(salted)
		return sum[:]
	case HashSHA512:
		sum := sha512.Sum512(salted)
		return sum[:]
	case HashMD5:
		sum := md5.Sum(salted)
		return sum[:]
	}
	return nil
}
